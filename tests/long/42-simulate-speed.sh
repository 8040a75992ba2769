#!/usr/bin/env bash
# A minute of a busy machine with 16 CPUs, ten million events, is simulated in under ten seconds of CPU time and in memory about as large as the file.
. tests/tap.sh

make -s build/bench/minute
events=$(build/bench/minute "$scratch/minute.tactus" | sed -n 's/.*events=\([0-9]*\).*/\1/p')
holds "the recording has ten million events" test "${events:-0}" -gt 10000000
for policy in tactus eevdf; do
	python3 - "$tactus" "$scratch/minute.tactus" $policy >"$scratch/took" <<'PYTHON'
import os, sys, time
sys.path[:0] = ["bench", "tests"]
import export
null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
words = [sys.argv[1], "simulate", "-i", sys.argv[2], "--policy", sys.argv[3]]
pid, most, ended = os.posix_spawn(words[0], words, os.environ, file_actions=null), 0, 0
while not ended:
    most = max(most, export.memory_kb(pid))
    time.sleep(0.01)
    ended, status, usage = os.wait4(pid, os.WNOHANG)
print(status, round(1000 * (usage.ru_utime + usage.ru_stime)), most)
PYTHON
	read -r status ms most_kb <"$scratch/took"
	say_measured "$policy: $events events, $ms ms of CPU time, $most_kb KB"
	is "a minute of 16 CPUs is simulated under $policy" "$status" 0
	holds "a minute of 16 CPUs is simulated under $policy in under ten seconds of CPU time" test "$ms" -lt 10000
	holds "a minute of 16 CPUs is simulated under $policy in one and a half times the file's size of memory" test "$most_kb" -lt $(($(stat -c %s "$scratch/minute.tactus") * 3 / 2 / 1024))
done
done_testing
