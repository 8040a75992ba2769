#!/usr/bin/env bash
# What the database does to an urgent thread beside a compile, on one CPU and from the first moment on: plain EEVDF, hints without
# the database, hints with what one compile before taught it; in turns. With 'vm' the same under the scheduler, by the virtual
# clock of a VM. Usage: bench/learned.sh [ROUNDS [SECONDS]] | bench/learned.sh vm [ROUNDS [SECONDS]]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh
where=host
[ "${1:-}" != vm ] || { where=vm; shift; }
[ "${1:-}" != guest ] || { where=guest; shift; }
rounds=${1:-5} seconds=${2:-4}
if [ $where = vm ]; then
	CMD="bench/learned.sh guest $rounds $seconds" KERNEL=scx CPUS=1 CLOCK=virtual LIMIT=1500 exec vm/run.sh
fi
[ "$(id -u)" = 0 ] || die "bench-learned: needs root"

NAME=learned
. bench/beside.sh

# Sensors that have nothing to see here are left out: by the virtual clock loading them takes long.
leave_out=launch,gpu,wine,input,frame,socket,sound,names
if [ $where = guest ]; then
	actuator=scx ready="scheduling by sched_ext" cpu=0
	# Something that is done in a fraction of a second there too.
	source=$scratch/small.c
	printf '#include <stdio.h>\nint main(void)\n{\n\treturn puts("small");\n}\n' >"$source"
else
	actuator=hints ready="hints to the kernel's scheduler" cpu=$(($(nproc) - 1)) source=bench/latency/load.c
fi

# start WAY
start() {
	local without=$leave_out
	case $1 in
	plain) return 0 ;;
	forgetful) without+=,learned ;;
	esac
	start_tactus "$ready" $tactus run --actuator $actuator --without $without
}

# one: the urgent thread's line; it counts from its first wake-up
one() {
	# Most of these jobs are gone before they can be judged.
	compile_for $((seconds + 1)) "$source" &
	pids=($!)
	sleep 0.5
	$load periodic 5000 300 "$seconds" 0
	wait "${pids[0]}"
	pids=()
}

taskset -pc "$cpu" $$ >/dev/null
say "teaching"
start learned
# Each by itself, as on days before.
for _ in 1 2 3; do $load periodic 5000 300 2 0 >/dev/null; done
(compile_for $((seconds + 2)) "$source")
sleep 2
end_tactus
$tactus db list >&2
for round in $(seq "$rounds"); do
	for way in plain forgetful learned; do
		# What is measured must not teach.
		cp "$TACTUS_DB" "$scratch/taught"
		start $way
		printf 'result %s %s round=%s %s\n' "$where" $way "$round" "$(one)"
		end_tactus
		cp "$scratch/taught" "$TACTUS_DB"
	done
done | tee "$scratch/results" | sed -u 's/^result /==> /' >&2
python3 - "$scratch/results" <<'PYTHON'
import statistics, sys
ways = {}
for line in open(sys.argv[1]):
    _, where, way, *pairs = line.split()
    for pair in pairs:
        name, value = pair.split("=")
        try:
            ways.setdefault(way, {}).setdefault(name, []).append(float(value))
        except ValueError:
            pass
names = [n for n in next(iter(ways.values())) if n != "round"]
print(f"{'(medians)':<12}" + "".join(f"{n:>14}" for n in names))
for way, values in ways.items():
    print(f"{way:<12}" + "".join(f"{statistics.median(values[n]):14.0f}" for n in names))
PYTHON
