#!/usr/bin/env bash
# A program that is loaded into the kernel long after the start, here when somebody talks to a sound server for the first time, leaves nothing of what its loading took: libbpf's
# copies of the kernel's types are larger than all else that tactus keeps.
. tests/tap.sh

pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
export TACTUS_FEED=$scratch/feed
# In a network of its own, in which nobody listens yet.
if ! unshare -n true 2>/dev/null; then
	skip "a program that is loaded later leaves nothing of what its loading took" "no network namespaces here"
	done_testing
fi
unshare -n "$tactus" roles --json -n all --without launch,gpu,wine,input,frame,socket,learned,display >"$scratch/out" 2>"$scratch/err" &
watcher=$!
pids+=("$watcher")
wait_for "$scratch/err" watching
maps() { find "/proc/$watcher/fd" -mindepth 1 -printf '%l\n' 2>/dev/null | grep -c bpf-map; }
resident_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$watcher/status"; }
sleep 2
before=$(resident_kb) maps_before=$(maps)
# A server that only listens, and a thread that runs every 5 ms as one of sound's does, connected to it.
mkdir -p "$scratch/pulse"
python3 -IS - "$scratch/pulse/native" >"$scratch/talks" 2>&1 <<'END' &
import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
other = server.accept()[0]
print("connected", flush=True)
at = time.monotonic()
while True:
    client.send(b"x" * 64)
    other.recv(64)
    at += 0.005
    time.sleep(max(0, at - time.monotonic()))
END
pids+=($!)
wait_for "$scratch/talks" connected
for _ in $(seq 300); do
	[ "$(maps)" = "$maps_before" ] || break
	sleep 0.1
done
if [ "$(maps)" = "$maps_before" ]; then
	skip "a program that is loaded later leaves nothing of what its loading took" "none was loaded here for a sound server"
	done_testing
fi
sleep 1
after=$(resident_kb)
say_measured "resident $before kB before, $after kB after; maps $maps_before and $(maps)"
holds "a program that is loaded later leaves less than 4 MB of what its loading took" test "$after" -le $((before + 4096))
kill -INT $watcher
wait $watcher
is "a watcher that loaded a program later ends with status 0" $? 0
done_testing
