#!/usr/bin/env bash
# A long mixed load beside a 'tactus run --metrics' that is scraped: threads that wake by a clock, compiles, containers that come and go, threads by the
# million, frames, standstills of the run, jumps of the clock. What it takes of memory, descriptors, maps and CPU time must be flat.
# Runs in a VM, or without jumps of the clock on any machine. Usage: soak.sh SECONDS [OPTIONS OF RUN...]   In six hours 10 million threads come and go.
. tests/tap.sh

seconds=${1:-21600}
shift
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
export TACTUS_FEED=$scratch/feed
threads_begun() { awk '/^processes/ { print $2 }' /proc/stat; }
# Where they are read: kB, descriptors, maps among them, hundredths of a second of CPU time, and of the descriptors those for probes in libraries.
taken() {
	local links probes
	links=$(find "/proc/$runner/fd" -mindepth 1 -printf '%l\n' 2>/dev/null)
	# One by perf has a descriptor of its own beside the link, and the library stays open.
	probes=$(($(grep -lsw -e uprobe_multi -e uretprobe_multi "/proc/$runner/fdinfo/"* | wc -l) + 2 * $(grep -lsw -e uprobe -e uretprobe "/proc/$runner/fdinfo/"* | wc -l) + $(grep -c '/lib[^/]*\.so' <<<"$links")))
	echo "$(awk '/^VmRSS/ { print $2 }' "/proc/$runner/status") $(wc -l <<<"$links") $(grep -c bpf-map <<<"$links")" \
		"$(awk '{ print $14 + $15 }' "/proc/$runner/stat") $probes"
}
# What each descriptor is, a line each: of a hook which, of a probe in which file and where.
descriptors() {
	python3 - "$runner" <<-'END'
		import os, sys
		folder = f"/proc/{sys.argv[1]}"
		for number in os.listdir(folder + "/fd"):
		    try:
		        link, info = os.readlink(f"{folder}/fd/{number}"), open(f"{folder}/fdinfo/{number}", errors="replace").read()
		    except OSError:
		        continue
		    skip = ("pos:", "flags:", "mnt_id:", "ino:", "link_id:", "prog_id:", "memlock:", "eventfd-", "map_id:", "tfd:")
		    print(link.split(":[")[0], *(" ".join(line.split()) for line in info.split("\n") if line and not line.startswith(skip)))
	END
}

"$tactus" run --json --metrics 127.0.0.1:0 "$@" >"$scratch/out" 2>"$scratch/err" &
runner=$!
pids+=("$runner")
wait_for "$scratch/err" 'watching; Ctrl-C' 6000
url=$(sed -n 's/^tactus: figures are at //p' "$scratch/err" | head -n 1)

build/workloads/pace 16667 4000 1000000000 >/dev/null &
pids+=($!)
build/workloads/pace 5000 200 1000000000 >/dev/null &
pids+=($!)
# Threads that end at once, one after another, and many side by side.
build/workloads/threads 1000000000 200 &
pids+=($!)
(while sleep 1; do build/workloads/short_lived 1500 >/dev/null; done) &
pids+=($!)
# Compiles.
(while :; do printf 'int f%d(int x){return x*%d;}\n' $((RANDOM)) $((RANDOM)) | nice gcc -O2 -x c -c -o /dev/null -; sleep 0.5; done) &
pids+=($!)
# Containers: namespaces and a control group of their own, a few processes, gone.
group=$(findmnt -t cgroup2 -no TARGET | head -n 1)
(while :; do
	name=$group/tactus-soak-$RANDOM
	mkdir "$name" 2>/dev/null && unshare -fpm --mount-proc bash -c "echo \$\$ >$name/cgroup.procs 2>/dev/null; for _ in 1 2 3; do sleep 0.1 & done; wait" >/dev/null 2>&1
	rmdir "$name" 2>/dev/null
	sleep 0.5
done) &
pids+=($!)

# Frames for a minute, none for half of one: while there are any, every switch is sent, so that late ones can be explained.
python3 -IS -c '
import time
while True:
    for _ in range(3600):
        print(flush=True)
        time.sleep(0.0166)
    time.sleep(30)' 2>/dev/null | build/workloads/present call libEGL.so.1 eglSwapBuffers 1 wait >/dev/null &
pids+=($!)

# Sound, for which a program is loaded later than the others.
mkdir "$scratch/pulse"
python3 -IS - "$scratch/pulse/native" >/dev/null 2>&1 <<'END' &
import socket, sys, time
server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
client.connect(sys.argv[1])
other = server.accept()[0]
while True:
    client.send(b"x" * 64)
    other.recv(64)
    time.sleep(0.01)
END
pids+=($!)
# Containers that bring a watched library of their own: its probes go ten minutes after them. They come by a clock, so that those of ten minutes are as many at any time.
echo 'void glXSwapBuffers(void) {}' | gcc -x c -shared -fPIC -o "$scratch/made.so" -
chmod 644 "$scratch/made.so"
(while :; do
	own=/mnt/$RANDOM
	unshare -m bash -c "mount -t tmpfs none /mnt && mkdir $own && cp '$scratch/made.so' $own/libGLX.so.0.0.0 && exec python3 -IS -c 'import ctypes; ctypes.CDLL(\"$own/libGLX.so.0.0.0\")'" >/dev/null 2>&1
	read -r up _ </proc/uptime
	sleep $((20 - ${up%.*} % 20))
done) &
pids+=($!)

began=$(threads_begun)
read -r start_up _ </proc/uptime
: >"$scratch/samples"
round=0 scrapes=0
while :; do
	read -r up _ </proc/uptime
	passed=$((${up%.*} - ${start_up%.*}))
	[ $passed -lt "$seconds" ] || break
	echo "$passed $(taken)" >>"$scratch/samples"
	[ -e "$scratch/early" ] || [ $passed -lt $((seconds / 4)) ] || descriptors | sort >"$scratch/early"
	curl -sf --max-time 60 "$url" >"$scratch/figures" && scrapes=$((scrapes + 1))
	round=$((round + 1))
	# One that is broken off tells what it had seen.
	[ $((round % 30)) != 0 ] || say_measured "after $passed s, $(($(threads_begun) - began)) threads: kB, descriptors, maps, hundredths of CPU, descriptors of probes: $(tail -n 1 "$scratch/samples" | cut -d ' ' -f 2-)"
	# The run stands still as over a sleep of the machine; the clock goes an hour forth or back, in a machine of its own.
	if [ $((round % 20)) = 10 ]; then
		kill -STOP $runner
		sleep 2
		kill -CONT $runner
	fi
	if [ -n "${TACTUS_VM:-}" ] && [ $((round % 20)) = 15 ]; then date -s "@$(($(date +%s) + (round % 40 < 20 ? 3600 : -3600)))" >/dev/null; fi
	sleep $((seconds > 600 ? 10 : 2))
done
descriptors | sort >"$scratch/late"
is "the run is there at the end" "$(cat /proc/$runner/comm 2>/dev/null)" tactus
"$tactus" status >"$scratch/status" 2>&1
like "the run answers at the end" "$(cat "$scratch/status")" '^acts by'
say_measured "$scrapes of $round scrapes were answered; the last one has $(wc -l <"$scratch/figures") lines"
holds "of a hundred scrapes beside the load at most one goes without an answer" test "$scrapes" -ge $((round - round / 100 - 1))
frames=$(awk '/^tactus_frame_seconds_count/ { print $2 }' "$scratch/figures") late=$(awk '/^tactus_late_frames_total/ { n += $2 } END { print n }' "$scratch/figures")
say_measured "$frames frames, $late of them late: $(grep -E '^tactus_late_frames_total' "$scratch/figures" | tr '\n' ' ')"
holds "frames are counted all the while" test "${frames:-0}" -ge "$passed"
came=$(($(threads_begun) - began))
say_measured "$came threads came in $passed s, $((came / passed)) a second; in six hours that makes $((came * 21600 / passed))"
holds "threads come at a rate by which six hours see ten million" test $((came * 21600 / passed)) -ge 10000000
python3 - "$scratch/samples" <<'END' >"$scratch/verdict"
import sys
rows = [list(map(int, line.split())) for line in open(sys.argv[1]) if len(line.split()) == 6]
quarter = len(rows) // 4
early, late = rows[quarter:2 * quarter], rows[3 * quarter:]
middle = lambda part, column: sorted(r[column] for r in part)[len(part) // 2]
rate = lambda part: (part[-1][4] - part[0][4]) / max(1, part[-1][0] - part[0][0])
print(len(rows), *(f"{middle(early, c)} {middle(late, c)}" for c in (1, 2, 3, 5)), f"{rate(early):.2f} {rate(late):.2f}")
END
read -r samples rss_early rss_late fds_early fds_late maps_early maps_late probes_early probes_late cpu_early cpu_late <"$scratch/verdict"
say_measured "$samples looks; second quarter against last: resident $rss_early and $rss_late kB, descriptors $fds_early and $fds_late, of which probes in libraries $probes_early and $probes_late, maps $maps_early and $maps_late, CPU $cpu_early and $cpu_late % of one"
holds "memory of the last quarter is that of the second, within a twentieth and 1 MB" test "$rss_late" -le $((rss_early + rss_early / 20 + 1024))
holds "descriptors of the last quarter are those of the second, within two" test "$fds_late" -le $((fds_early + 2))
# A library that somebody maps for the first time has its probes from then on, whoever that is on this machine; none has the same twice.
comm -13 "$scratch/early" "$scratch/late" >"$scratch/came"
say_measured "descriptors that came since the first quarter: $(tr '\n' ';' <"$scratch/came")"
is "no probe is in a place of a library where another one of the same program is" "$(grep -E '(uprobe|uretprobe)' "$scratch/late" | uniq -d)" ""
is "probes that came since the first quarter are in libraries that had none" "$(grep -E '(uprobe|uretprobe)' "$scratch/came" | grep -oE '/[^ ]+' | sort -u | grep -Fxf <(grep -E '(uprobe|uretprobe)' "$scratch/early" | grep -oE '/[^ ]+' | sort -u))" ""
is "maps of the last quarter are those of the second" "$maps_late" "$maps_early"
holds "CPU time of the last quarter is at most half as much again as that of the second" awk "BEGIN { exit !($cpu_late <= 1.5 * $cpu_early + 1) }"
kill -INT $runner
wait $runner
is "the run ends with status 0 after the load" $? 0
done_testing
