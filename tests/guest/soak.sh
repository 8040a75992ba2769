#!/usr/bin/env bash
# A long mixed load beside a 'tactus run --metrics' that is scraped: threads that wake by a clock, compiles, containers that come and go, threads by the
# million, frames, standstills of the run, jumps of the clock. What it takes of memory, descriptors, maps and CPU time must be flat.
# All of it takes a quarter of a CPU, so that other work can go on beside it.
# Runs in a VM, or without jumps of the clock on any machine. Usage: soak.sh SECONDS [OPTIONS OF RUN...]   In six hours 10 million threads come and go.
. tests/tap.sh

seconds=${1:-21600}
shift
pids=()
# The run may stand still just then.
trap 'kill "${pids[@]}" 2>/dev/null; kill -CONT "${runner:-$$}" 2>/dev/null; rm -rf "$scratch"' EXIT
export TACTUS_FEED=$scratch/feed
threads_begun() { awk '/^processes/ { print $2 }' /proc/stat; }
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

build/workloads/pace 16667 1000 1000000000 >/dev/null &
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
(for ((number = 0; ; number++)); do
	own=/mnt/soak-$number
	unshare -m bash -c "mount -t tmpfs none /mnt && mkdir $own && cp '$scratch/made.so' $own/libGLX.so.0.0.0 && exec python3 -IS -c 'import ctypes; ctypes.CDLL(\"$own/libGLX.so.0.0.0\")'" >/dev/null 2>&1
	read -r up _ </proc/uptime
	sleep $((20 - ${up%.*} % 20))
done) &
pids+=($!)

began=$(threads_begun)
read -r start_up _ </proc/uptime
: >"$scratch/looks"
round=0 scrapes=0
while :; do
	read -r up _ </proc/uptime
	passed=$((${up%.*} - ${start_up%.*}))
	[ $passed -lt "$seconds" ] || break
	tests/soak_looks.py look "$runner" "$passed" >>"$scratch/looks"
	[ -e "$scratch/early" ] || [ $passed -lt $((seconds / 4)) ] || descriptors | sort >"$scratch/early"
	curl -sf --max-time 60 "$url" >"$scratch/figures" && scrapes=$((scrapes + 1))
	round=$((round + 1))
	# One that is broken off tells what it had seen.
	[ $((round % 30)) != 0 ] || say_measured "after $passed s, $(($(threads_begun) - began)) threads: $(tail -n 1 "$scratch/looks" | json '"{} kB, {} hundredths of a second of CPU, {} descriptors and {} of probes".format(d["kb"], d["cpu"], sum(d["kinds"].values()), sum(d["libraries"].values()))')"
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
tests/soak_looks.py verdict "$scratch/looks" /soak- >"$scratch/verdict"
# fact NAME: what the looks say of it
fact() { sed -n "s/^$1\t//p" "$scratch/verdict"; }
read -r kb_early kb_late kb_first kb_last <<<"$(fact kb)"
read -r fds_early fds_late <<<"$(fact descriptors)"
read -r own_early own_late <<<"$(fact own)"
read -r maps_early maps_late <<<"$(fact maps)"
read -r cpu_early cpu_late <<<"$(fact cpu)"
say_measured "$(fact looks) looks; second quarter against last: resident $kb_early and $kb_late kB ($kb_first at the first look, $kb_last at the last), descriptors but for probes $fds_early and $fds_late, maps among them $maps_early and $maps_late, probes in libraries of its own containers at most $own_early and $own_late, CPU $cpu_early and $cpu_late % of one"
say_measured "threads of this machine at once, at most, in each quarter: $(fact threads)"
say_measured "descriptors of the last quarter by kind: $(fact kinds)"
say_measured "kinds of which there are more or fewer: $(fact changed)"
say_measured "probes in libraries that others on this machine brought, at most in the second quarter and in the last: $(fact others)"
holds "memory of the last quarter is that of the second, within a twentieth and 1 MB" test "$kb_late" -le $((kb_early + kb_early / 20 + 1024))
holds "descriptors of the last quarter, but for probes, are those of the second, within two" test "$fds_late" -le $((fds_early + 2))
# One comes each 20 s, and has its probes for eleven minutes at most.
holds "probes in libraries of containers that come and go are never more than those of eleven minutes" test "$(printf '%s\n' "$own_early" "$own_late" | sort -n | tail -n 1)" -le 34
say_measured "a library kept its probes after the last who mapped it for $(fact kept)"
is "no library has kept its probes for longer than ten minutes and two looks for it after the last who mapped it" "$(fact stale)" ""
# Where others run programs beside this, they bring libraries of their own.
[ -z "${TACTUS_VM:-}" ] || is "no library has more probes in the last quarter than in the second" "$(fact grown)" ""
# A library that somebody maps for the first time has its probes from then on, whoever that is on this machine; none has the same twice.
comm -13 "$scratch/early" "$scratch/late" >"$scratch/came"
say_measured "descriptors that came since the first quarter: $(tr '\n' ';' <"$scratch/came")"
is "no probe is in a place of a library where another one of the same program is" "$(grep -E '(uprobe|uretprobe)' "$scratch/late" | uniq -d)" ""
# In other roots than this one other files may have the same name.
is "probes that came since the first quarter are in libraries that had none" "$(while read -r file; do [ ! -e "$file" ] && [[ $file != /soak-* ]] || echo "$file"; done < <(grep -E '(uprobe|uretprobe)' "$scratch/came" | grep -oE '/[^ ]+' | sort -u | grep -Fxf <(grep -E '(uprobe|uretprobe)' "$scratch/early" | grep -oE '/[^ ]+' | sort -u)))" ""
is "maps of the last quarter are those of the second" "$maps_late" "$maps_early"
holds "CPU time of the last quarter is at most half as much again as that of the second" awk "BEGIN { exit !($cpu_late <= 1.5 * $cpu_early + 1) }"
kill -INT $runner
wait $runner
is "the run ends with status 0 after the load" $? 0
done_testing
