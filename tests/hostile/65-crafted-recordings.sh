#!/usr/bin/env bash
# Recordings that somebody made to take time or memory: centuries between two events, the most CPUs, times that go back, and threads with hostile names. Every
# command that reads a recording ends by itself, within 400 MB and ten times the CPU time that an ordinary recording as small takes, and what it prints is plain text.
. tests/tap.sh

record() { python3 tests/recording.py "$scratch/$1.tactus" "${2:-2}"; }
record far <<'END'
thread 0 7 0 pid=7 comm=a
thread 0 9 0 pid=9 comm=b
switch 10 7 0 next_tid=9 prev_state=1
frame 20 7 0
frame 30 7 0
switch 15000000000000000 9 0 next_tid=7 prev_state=1
frame 15000000000000010 7 0
switch 15000000000000100 7 0 next_tid=9 prev_state=1
frame 17000000000000010 7 0
END
record cpus 4096 <<'END'
thread 0 7 4095 pid=7 comm=a
switch 10 7 4095 next_tid=9 prev_state=1
switch 20 9 65535 next_tid=7 prev_state=1
END
record back <<'END'
thread 900 7 0 pid=7 comm=a
switch 1000 7 0 next_tid=9 prev_state=1
wakeup 10 7 0 waker_tid=9 target_cpu=1
switch 2 9 0 next_tid=7 prev_state=1
frame 5000 7 0
frame 1 7 0
END
printf 'thread 0 7 0 pid=7 comm=\033[2J\342\200\256x\nswitch 10 7 0 next_tid=9 prev_state=1\nthread 11 9 0 pid=9 comm=</script>\nswitch 20 9 0 next_tid=7 prev_state=0\nframe 30 7 0\nframe 40000 7 0\n' | record names
# One that nobody has made to take anything, as small.
printf 'thread 0 7 0 pid=7 comm=a\nthread 0 9 0 pid=9 comm=b\nswitch 10 7 0 next_tid=9 prev_state=1\nframe 20 7 0\nframe 30 7 0\nswitch 40 9 0 next_tid=7 prev_state=1\nframe 50 7 0\n' | record ordinary
# Neither control characters nor those that turn or hide text.
is_plain() { ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\x8b-\x8f\xaa-\xae]' "$1"; }
declare -A most_ms=()
most_kb=0
# within COMMAND...: prints "status ms KB", the time of the CPU, the first 'killed' where a bound was met
within() {
	python3 - "$scratch/out" "$scratch/err" "$@" <<'END'
import resource, subprocess, sys
out, err, *command = sys.argv[1:]
def bound():
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10)); resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)); resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
try: status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=open(out, "w"), stderr=open(err, "w"), preexec_fn=bound, timeout=300).returncode
except subprocess.TimeoutExpired: status = "late"
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("killed" if status == "late" or status < 0 else status, round((used.ru_utime + used.ru_stime) * 1000), used.ru_maxrss)
END
}
for file in ordinary far cpus back names; do
	bad='' most_ms[$file]=0
	for command in 'tasks -n all' latency frames 'frames --why' events misses migrations inversions gpu input cuda roles affinity "report -o $scratch/x.html" "export -o $scratch/x.pftrace" \
		"export -o $scratch/x.csv" "export -o $scratch/x.json --format chrome" "export -o $scratch/x.parquet" "cut -o $scratch/cut.tactus --force" simulate "top --once" "compare $scratch/$file.tactus"; do
		rm -f "$scratch"/x.*
		case $command in
		compare*) input=("$scratch/$file.tactus") ;;
		*) input=(-i "$scratch/$file.tactus") ;;
		esac
		read -ra words <<<"$command"
		words+=("${input[@]}")
		read -r status ms kb <<<"$(within "$tactus" "${words[@]}")"
		most_ms[$file]=$((ms > most_ms[$file] ? ms : most_ms[$file])) most_kb=$((kb > most_kb ? kb : most_kb))
		[ "$status" = 0 ] || [ "$status" = 1 ] || bad+="${command%% *}: $status after $ms ms; "
		is_plain "$scratch/out" && is_plain "$scratch/err" || bad+="${command%% *}: not plain; "
	done
	is "every command ends by itself, with plain text, on the recording $file" "$bad" ""
	[ $file = ordinary ] || holds "no command takes more than ten times the CPU time of the longest for an ordinary recording on the recording $file" \
		test "${most_ms[$file]}" -le $((10 * most_ms[ordinary]))
done
say_measured "the most that a command took for one of them: ${most_ms[far]} ms of CPU time for far, ${most_ms[cpus]} for cpus, ${most_ms[back]} for back, ${most_ms[names]} for names," \
	"${most_ms[ordinary]} for an ordinary one; $most_kb KB"
done_testing
