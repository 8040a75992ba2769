#!/usr/bin/env bash
# Fuzzes what reads files that anyone may have made, from seeds that are made here and from tests/fuzz/corpus/NAME, where
# what was found to reach further is kept. Inputs are as long as a recording's block at most. Without FUZZ_SECONDS the same
# inputs each time, by number and not by time, so that a faster machine does not come upon others; with it, new ones for
# that long.
# Usage: tests/fuzz/run.sh [NAME...]   (all targets without a name)
# FUZZ_KEEP=1 puts what reaches further this time into the corpus, as little of it as does.
# FUZZ_COVERAGE=1 fuzzes nothing: it says how many lines and branches of each parser all inputs together run.
# FUZZ_PACK=FOLDER runs nothing: it puts there what fuzzes on another machine, with loader and libraries and no debugging information, and
# run.sh, which does it.
# What breaks a target is kept as build/fuzz/NAME-crash-*; build/fuzz/NAME FILE shows it again.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# The same ones are cut off after a minute, on a machine that is far slower.
seconds=${FUZZ_SECONDS:-60}
# Where memory was taken is told by two callers: to note more takes a fifth of the time. Who shows a crash again sees all of them.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2}
declare -A same_inputs=([models]=600 [export]=300 [top]=60 [procdb]=3000 [recording]=3000 [elf]=5000 [simulate]=3000)
wanted=" $* "
fuzz_out=build/fuzz
flags=(-std=gnu11 -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE -DTACTUS_VERSION='"fuzzed"' -fno-sanitize-recover=all)

# is_up_to_date NAME: both its programs are there, and no source has changed since
is_up_to_date() {
	[ -x "$fuzz_out/$1" ] && [ -x "$fuzz_out/${1}_seeds" ] &&
		[ -z "$(find core src tests/fuzz -newer "$fuzz_out/$1" -type f -print -quit)" ]
}

# compile SOURCE: once for all targets; adds the object to objects. Targets are built side by side: who comes second waits for what the first makes.
compile() {
	local object=$fuzz_out/obj/${1%.c}.o
	mkdir -p "$(dirname "$object")"
	(
		flock 9
		[ -e "$object" ] && [ -z "$(find core src "$1" -newer "$object" -type f -print -quit)" ] ||
			{ "${CLANG:-clang}" "${flags[@]}" -fsanitize=fuzzer-no-link,address,undefined -c "$1" -o "$object.part" && mv "$object.part" "$object"; }
	) 9>"$object.lock" || return 1
	objects+=("$object")
}

# build_target NAME SOURCE-FOR-SEEDS SOURCES...: the second may be empty
build_target() {
	local name=$1 maker=$2 source objects=() libraries=(-lz -linih -liberty -lm)
	# shellcheck disable=SC2054 # the linker's own commas
	[ -z "${FUZZ_PACK:-}" ] || libraries=(-Wl,-Bstatic -lz -linih -liberty -Wl,-Bdynamic -lm)
	shift 2
	mkdir -p "$fuzz_out" "$scratch/$name"
	if ! is_up_to_date "$name"; then
		for source in src/base/hash.c src/base/sort.c "$@"; do compile "$source" || return 1; done
		"${CLANG:-clang}" "${flags[@]}" -fsanitize=fuzzer,address,undefined "tests/fuzz/${name}_fuzz.c" "${objects[@]}" "${libraries[@]}" \
			-o "$fuzz_out/$name" || return 1
		[ -z "$maker" ] || compile "$maker" || return 1
		"${CLANG:-clang}" "${flags[@]}" -fsanitize=fuzzer-no-link,address,undefined "tests/fuzz/${name}_seeds.c" "${objects[@]}" "${libraries[@]}" \
			-o "$fuzz_out/${name}_seeds" || return 1
	fi
	"$fuzz_out/${name}_seeds" "$scratch/$name" && make_long_seed "$name"
}

# One as long as a real block: all that is small, one after the other, over and over.
make_long_seed() {
	local inputs=("$scratch/$1"/*) long=$scratch/$1/long
	[ ! -d "tests/fuzz/corpus/$1" ] || inputs+=("tests/fuzz/corpus/$1"/*)
	: >"$long"
	until [ "$(wc -c <"$long")" -ge 65536 ]; do cat "${inputs[@]}" >>"$long" || return 1; done
	truncate -s 65536 "$long"
}

# Inputs of at most 4 KB, the smallest that reach what all together reach.
keep_corpus() {
	mkdir -p "tests/fuzz/corpus/$1" "$scratch/$1-kept"
	"$fuzz_out/$1" -merge=1 -max_len=4096 "$scratch/$1-kept" "tests/fuzz/corpus/$1" "$scratch/$1" >/dev/null 2>&1 || return 0
	rm -r "tests/fuzz/corpus/$1"
	cp -r "$scratch/$1-kept" "tests/fuzz/corpus/$1"
}

# pack NAME: its program and all its inputs
pack() {
	mkdir -p "$FUZZ_PACK/inputs/$1" "$FUZZ_PACK/libraries"
	strip -g -o "$FUZZ_PACK/$1" "$fuzz_out/$1" || return 1
	cp "$scratch/$1"/* "$FUZZ_PACK/inputs/$1/"
	[ ! -d "tests/fuzz/corpus/$1" ] || cp "tests/fuzz/corpus/$1"/* "$FUZZ_PACK/inputs/$1/"
	ldd "$fuzz_out/$1" | grep -o '/[^ ]*' | xargs -I{} cp -Lu {} "$FUZZ_PACK/libraries/"
	cp tests/fuzz/elsewhere.sh "$FUZZ_PACK/run.sh"
}

# cover NAME SOURCES...: built once more with clang's coverage; each source that the target is for, then all of it
cover() {
	local name=$1 out=$fuzz_out/covered inputs=("$scratch/$1")
	shift 2
	mkdir -p "$out"
	[ ! -d "tests/fuzz/corpus/$name" ] || inputs+=("tests/fuzz/corpus/$name")
	"${CLANG:-clang}" "${flags[@]}" -fsanitize=fuzzer -fprofile-instr-generate -fcoverage-mapping "tests/fuzz/${name}_fuzz.c" src/base/{hash,sort}.c \
		"$@" -lz -linih -liberty -lm -o "$out/$name" || return 1
	LLVM_PROFILE_FILE=$scratch/$name.profraw "$out/$name" -runs=0 -max_len=66000 "${inputs[@]}" >"$scratch/$name.covered" 2>&1 || return 1
	llvm-profdata merge -o "$scratch/$name.profdata" "$scratch/$name.profraw" || return 1
	llvm-cov report "$out/$name" -instr-profile="$scratch/$name.profdata" "$@" |
		awk -v name="$name" '$1 ~ /\.c$/ || $1 == "TOTAL" { printf "# %s: %s lines %s branches %s\n", name, $1, $10, $13 }'
}

# fuzz NAME SOURCE-FOR-SEEDS SOURCES...: tests/fuzz/NAME_fuzz.c with what tests/fuzz/NAME_seeds.c makes
fuzz() {
	local name=$1 log=$scratch/$1.log edges covered runs status=0
	[ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
	local corpus=() how_many=()
	[ -n "${FUZZ_SECONDS:-}" ] || how_many=(-seed=1 "-runs=${same_inputs[$name]:-10000}")
	[ ! -d "tests/fuzz/corpus/$name" ] || corpus=("tests/fuzz/corpus/$name")
	if ! build_target "$@" >"$log" 2>&1; then
		flunk "$name: the fuzz target builds and has seeds" "$(tail -n 20 "$log")"
		return
	fi
	if [ -n "${FUZZ_COVERAGE:-}" ]; then
		if cover "$@"; then pass "$name: what its inputs cover is counted"; else flunk "$name: what its inputs cover is counted"; fi
		return
	fi
	if [ -n "${FUZZ_PACK:-}" ]; then
		holds "$name: the fuzz target is packed" pack "$name"
		return
	fi
	timeout -k 5 $((seconds + 600)) "$fuzz_out/$name" "${how_many[@]}" -max_total_time="$seconds" -max_len=66000 -timeout=30 \
		-rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$fuzz_out/$name-" "$scratch/$name" "${corpus[@]}" \
		>"$log" 2>&1 || status=$?
	[ -z "${FUZZ_KEEP:-}" ] || keep_corpus "$name"
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
	edges=$(sed -n 's/^INFO: Loaded .*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$log" | head -n 1)
	if [ "$status" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
		pass "$name: no input breaks it"
	else
		flunk "$name: no input breaks it" "exit status $status; $(tail -n 40 "$log")"
	fi
	say_measured "$name: ${runs:-no} executions, ${covered:-no} of ${edges:-unknown} edges covered"
}

fuzz recording src/stream/recording_write.c src/stream/recording_read.c src/stream/recording_format.c src/base/output.c src/base/say.c \
	src/base/output_whole.c src/base/sudo.c src/base/way.c \
	src/model/threads.c src/model/submits.c src/model/inputs.c src/model/to_frame.c src/model/cuda.c src/model/cuda_rows.c src/model/cuda_api.c
fuzz models '' src/base/say.c src/base/several.c src/sink/event.c src/sink/json.c src/sink/text.c src/model/blocks.c src/model/compare_take.c src/model/collectives.c src/model/cuda.c src/model/cuda_rows.c src/model/rhythm.c src/model/steps.c src/model/cuda_api.c src/model/event_filter.c src/model/frames.c src/model/frames_rows.c src/model/frame_record.c src/model/history.c \
	src/model/inputs.c src/model/to_frame.c src/model/inversions.c src/model/latency.c src/model/lead_in.c src/model/lead_in_stacks.c src/model/misses.c src/model/moves.c src/model/path.c src/model/report*.c src/model/roles.c \
	src/model/stacks.c src/model/submits.c src/model/tasks.c src/model/threads.c src/model/driver_memory.c src/model/driver_work.c
fuzz top '' src/base/say.c src/base/several.c src/sink/columns.c src/sink/canvas.c src/sink/text.c src/sink/json.c src/model/frames.c src/model/frames_rows.c src/model/frame_record.c src/model/gpu.c src/model/history.c src/model/misses.c \
	src/model/moves.c src/model/path.c src/model/roles.c src/model/threads.c src/model/top.c src/model/top_rows.c src/model/top_waits.c \
	src/stream/player.c src/stream/recording_read.c src/stream/recording_format.c src/sched/scx_events.c src/view/status.c src/view/{frame,role,thread}_words.c \
	src/view/top_keys.c src/view/top_paint*.c
fuzz export '' src/base/say.c src/sink/columns.c src/sink/demangle.c src/sink/perfetto.c src/sink/perfetto_sched.c src/sink/chrome.c src/sink/parquet.c src/sink/parquet_column.c src/sink/event_table.c src/sink/json.c src/base/several.c src/sink/text.c src/model/cuda.c src/model/cuda_rows.c src/model/cuda_api.c src/model/frames.c src/model/frames_rows.c src/model/frame_record.c \
	src/model/gpu.c src/model/history.c src/model/inputs.c src/model/to_frame.c src/model/misses.c src/model/moves.c src/model/nvidia.c src/model/path.c src/model/rhythm.c src/model/roles.c src/model/stacks.c src/model/steps.c src/model/threads.c \
	src/view/export_{lanes,marks,sched,stacks,steps,trace}.c src/view/{cuda,frame,role,thread}_words.c
fuzz simulate '' src/base/say.c src/base/system.c src/base/topology.c src/sched/scx_places.c src/sim/*.c
fuzz packets '' src/base/say.c src/base/several.c src/sched/journal.c src/sched/scx_events.c src/sink/json.c src/sink/text.c src/model/nvidia.c src/model/roles.c src/view/status.c
fuzz maps '' src/base/maps.c
fuzz http '' src/base/http.c
# Steps of training jobs, and what they are explained by.
steps=(src/model/steps.c src/model/rhythm.c src/model/cuda.c src/model/cuda_rows.c src/model/cuda_api.c src/model/collectives.c src/model/path.c src/model/threads.c src/model/frames.c src/model/frames_rows.c src/model/frame_record.c src/model/history.c src/model/misses.c src/base/several.c)
fuzz answers '' src/base/http_text.c src/base/say.c src/base/json_read.c src/model/fleet.c src/model/fleet_answer.c "${steps[@]}"
fuzz segments '' src/base/json_read.c src/model/segment_index.c
fuzz metrics '' src/base/say.c src/base/json_read.c src/model/metrics.c src/model/metrics_names.c src/model/metrics_events.c "${steps[@]}" src/model/gpu.c src/model/moves.c src/model/roles.c src/sink/openmetrics.c src/sink/otlp.c src/sink/json.c src/sink/text.c src/view/metrics_print.c src/view/metrics_print_run.c src/view/metrics_run.c src/model/submits.c src/sched/scx_events.c
fuzz mounts '' src/base/mounts.c
fuzz proc '' src/base/proc.c src/base/tracepoint_format.c src/base/system.c src/base/say.c
fuzz control '' src/stream/control.c
fuzz dbus '' src/base/dbus.c src/base/dbus_bus.c src/base/say.c
fuzz rules src/base/say.c src/base/defaults.c src/base/sudo.c src/base/regular.c src/base/suggest.c src/model/rules.c src/store/rules_file.c src/model/rules_builtin.c src/model/roles.c
fuzz elf '' src/base/elf_read.c src/base/say.c src/model/wine_code.c
fuzz elf_answer '' src/base/elf_answer.c src/base/elf_read.c src/base/say.c
fuzz devices '' src/model/devices.c
fuzz detour '' src/model/detour.c
fuzz reports '' src/sensor/cuda_reports.c src/model/detour.c
fuzz maps_record '' src/base/maps_record.c src/base/maps.c
fuzz demangle '' src/sink/demangle.c
fuzz procdb '' src/model/procdb.c src/model/procdb_format.c src/base/say.c
done_testing
