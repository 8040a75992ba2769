#!/usr/bin/env bash
# 'tactus run --metrics' gives the figures that 'tactus serve --metrics' gives: both beside the same frames, calls into CUDA, steps of a training job and
# missed timers have families of the same names and labels.
# not beside: tactus cuda, whose folders are counted
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/metrics.sh

if ! has_parser; then
	skip "a run's figures are those of serve" "python3-prometheus-client is not installed"
	done_testing
fi
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$scratch"' EXIT
ends "--cuda without --metrics is bad usage of run" 2 'are for --metrics' "$tactus" run --cuda
export TACTUS_FEED=$scratch/feed TACTUS_NVIDIA_MAJORS=1,5
cuda=$PWD/build/workloads/libcuda.so.1 nccl=$PWD/build/workloads/libnccl.so
# shellcheck disable=SC2054
options=(--metrics 127.0.0.1:0 --cuda --library "$cuda" --without launch,gpu,wine,input,socket,sound,names)
actuator=hints
serve "$scratch/run-err" "$tactus" run --actuator $actuator --compare off --json "${options[@]}"
# One at a time gives hints, and somebody's may be at work on this machine.
if grep -q 'another tactus gives hints' "$scratch/run-err"; then
	wait "$server"
	is "a run that can't act beside another ends with status 1" $? 1
	actuator=none
	serve "$scratch/run-err" "$tactus" run --actuator $actuator --compare off --json "${options[@]}"
fi
run=$server run_url=$url
pids+=("$run")
serve "$scratch/serve-err" "$tactus" serve "${options[@]}"
pids+=("$server")

# A double of OpenGL's library, whose flushes are submits: so both have seen some, whatever else the machine does.
echo 'void glFlush(void) {}' | gcc -x c -shared -fPIC -o "$scratch/libOpenGL.so.0" -
build/workloads/present call "$scratch/libOpenGL.so.0" glFlush 1 wait < <(while sleep 0.3; do echo; done) >/dev/null &
pids+=($!)
head -c 64 /dev/zero >"$scratch/barrier"
RANK=0 TORCHELASTIC_RUN_ID=one-job WORLD_SIZE=1 FAKE_NCCL_BARRIER=$scratch/barrier build/workloads/rank "$cuda" "$nccl" 1000 none 25 >/dev/null 2>&1 &
rank=$!
pids+=("$rank")
build/workloads/pace 5000 200 100000000 >/dev/null &
pids+=($!)
mkfifo "$scratch/go"
build/workloads/present call libEGL.so.1 eglSwapBuffers 100 wait <"$scratch/go" >"$scratch/presents" &
presenter=$!
pids+=("$presenter")
exec 3>"$scratch/go"
# both: what each gives at about the same time
both() {
	sleep 1.1 # what is served is at most a second old
	url=$run_url scrape "$scratch/of-run"
	scrape "$scratch/of-serve"
}
has_all() { [ "$(of "$1" 'value("tactus_rank_steps_total") > 5 and value("tactus_frame_seconds_count") > 4 and value("tactus_gpu_submits_total") > 0')" = True ]; }
for _ in $(seq 60); do
	for _ in 1 2 3; do echo >&3; done
	both
	! has_all "$scratch/of-run" || ! has_all "$scratch/of-serve" || break
done
frames_of() { of "$scratch/of-$1" 'int(value("tactus_frame_seconds_count"))'; }
run_before=$(frames_of run) serve_before=$(frames_of serve)
for _ in 1 2 3; do echo >&3; done
exec 3>&-
wait "$presenter"
kill "$rank"
wait "$rank" 2>/dev/null
both
of "$scratch/of-serve" 'sorted(names)' >"$scratch/names"
is "a run has the families of figures that serve has, by name" "$(of "$scratch/of-run" 'sorted(names)')" "$(cat "$scratch/names")"
holds "these are figures of frames, CUDA and steps too" of "$scratch/of-run" '[name for name in ("tactus_frame_seconds", "tactus_late_frames", "tactus_timer_misses", "tactus_gpu_stalls", "tactus_cuda_launches", "tactus_cuda_collectives", "tactus_rank_steps", "tactus_rank_step_seconds") if name not in names] and sys.exit(1)'
labels='sorted({(s.name, *sorted(s.labels)) for s in samples if not s.name.startswith("tactus_wait")})'
is "a run's figures have the labels that those of serve have" "$(of "$scratch/of-run" "$labels")" "$(of "$scratch/of-serve" "$labels")"
holds "a run counts frames that are presented" test $(($(frames_of run) - run_before)) -ge 300
holds "serve counts frames that are presented" test $(($(frames_of serve) - serve_before)) -ge 300
# Doubles whose counts are known: six launches, a call that waits and a collective call in each step; one that was under way ended in its midst.
counts='[int(value(name, process="rank")) for name in ("tactus_cuda_launches_total", "tactus_cuda_syncs_total", "tactus_cuda_collectives_total")]'
lost='int(value("tactus_lost_events_total") + value("tactus_lost_facts_total", sensor="cuda"))'
for who in run serve; do
	read -r launches syncs collectives <<<"$(of "$scratch/of-$who" "$counts" | tr -d '[],')"
	if [ "$(of "$scratch/of-$who" "$lost")" = 0 ]; then
		is "of $who, six launches are counted for each collective call" "$((launches >= 6 * collectives && launches <= 6 * collectives + 6))" 1
		is "of $who, one call that waits for the GPU is counted for each collective call" "$((syncs >= collectives && syncs <= collectives + 1))" 1
	else
		skip "of $who, six launches are counted for each collective call" "events were lost on this machine"
	fi
	holds "of $who, each wait for the GPU is at least what the double waits" of "$scratch/of-$who" 'sys.exit(value("tactus_cuda_sync_seconds_total", process="rank") < 0.004 * value("tactus_cuda_syncs_total", process="rank"))'
	holds "of $who, late frames of all causes are no more than frames" of "$scratch/of-$who" 'sys.exit(value("tactus_late_frames_total") > value("tactus_frame_seconds_count"))'
	[ $actuator = none ] || holds "of $who, an urgent thread's hint is counted" of "$scratch/of-$who" 'sys.exit(value("tactus_hints_total", what="given") < 1)'
	say_measured "of $who: $launches launches, $syncs waits, $collectives collectives; hints given $(of "$scratch/of-$who" 'int(value("tactus_hints_total", what="given"))'); lost $(of "$scratch/of-$who" "$lost")"
done
# What rules, alerts and dashboards ask for.
grep -ohE '\btactus_[a-z_]+' deploy/prometheus/tactus.rules.yml deploy/prometheus/tactus.alerts.yml deploy/grafana/tactus.json | sort -u >"$scratch/wanted"
[ $actuator = hints ] || sed -i '/^tactus_hints/d' "$scratch/wanted"
of "$scratch/of-run" '"\n".join(sorted({s.name for s in samples}))' | sort -u >"$scratch/given"
is "every figure that rules, alerts and the dashboard ask for is one that a run gives" "$(comm -23 "$scratch/wanted" "$scratch/given" | tr '\n' ' ')" ""
say_measured "rules, alerts and the dashboard ask for $(wc -l <"$scratch/wanted") figures by name"
say_measured "$(of "$scratch/of-run" 'len(names)') families; frames $(of "$scratch/of-run" 'value("tactus_frame_seconds_count")'), launches $(of "$scratch/of-run" 'value("tactus_cuda_launches_total")') and $(of "$scratch/of-serve" 'value("tactus_cuda_launches_total")'), steps $(of "$scratch/of-run" 'value("tactus_rank_steps_total")') and $(of "$scratch/of-serve" 'value("tactus_rank_steps_total")')"
is "a run that serves figures still finds out what threads are for" "$(of "$scratch/of-run" 'value("tactus_wakeups_total", role="unknown") < value("tactus_wakeups_total")')" True
kill -INT "$run"
wait "$run"
is "a run that serves every figure ends with status 0" $? 0
done_testing
