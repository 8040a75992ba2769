#!/usr/bin/env bash
# Each capability of the unit is needed: without it something is missing that is there with all of them, and what that is stands here. Runs in a VM, where other
# users' threads and libraries are the test's own. Usage: rights.sh [CAPABILITY...]
. tests/tap.sh

unit=packaging/systemd/tactus.service
mapfile -t all < <(sed -n 's/^CapabilityBoundingSet=//p' $unit | tr ' ' '\n' | sed 's/^CAP_//' | tr '[:upper:]' '[:lower:]')
# A user's own folder, which only he may look into, with a library in it that others may not open.
home=/var/tmp/tactus-rights-$$
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch" $home' EXIT
mkdir -m 711 $home && mkdir $home/own
echo 'void glXSwapBuffers(void) {}' | gcc -x c -shared -fPIC -o $home/own/libGLX.so.0 -
cp build/workloads/present build/workloads/pace $home/own/
chown -R 65534:65534 $home/own
chmod 700 $home/own
sysctl -qw kernel.kptr_restrict=1
export TACTUS_FEED=$scratch/feed
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
# bounded WITHOUT COMMAND...: with what the unit allows but for one
bounded() {
	local without=$1 one list=-all
	shift
	for one in "${all[@]}"; do [ "$one" = "$without" ] || list+=,+$one; done
	setpriv --no-new-privs --bounding-set "$list" --inh-caps=-all -- "$@"
}
of_status() { awk -v field="$2:" '$1 == field { print $2 }' "/proc/$1/status" 2>/dev/null; }
# seen WITHOUT: what works, in words
seen() {
	local without=$1 run child words=() presenter pacer
	bounded "$without" "$tactus" run -v --actuator hints --compare off --without launch,gpu,feed,wine,input,socket,sound,display,names >"$scratch/out" 2>"$scratch/err" &
	run=$!
	pids=("$run")
	for _ in $(seq 1200); do
		! grep -q 'watching; Ctrl-C' "$scratch/err" || break
		kill -0 $run 2>/dev/null || break
		sleep 0.1
	done
	! grep -q 'watching; Ctrl-C' "$scratch/err" || words+=(watches)
	while sleep 0.2; do echo; done | as_user $home/own/present call $home/own/libGLX.so.0 glXSwapBuffers 1 wait >/dev/null 2>&1 &
	presenter=$!
	as_user $home/own/pace 20000 200 1000000 >/dev/null &
	pacer=$!
	pids+=("$presenter" "$pacer")
	for _ in $(seq 150); do
		! grep -q 'libGLX.so.0: probes are in place' "$scratch/err" || [ "$(build/workloads/attr $pacer)" = "$usual" ] || break
		sleep 0.1
	done
	! grep -q 'libGLX.so.0: probes are in place' "$scratch/err" || words+=(probes)
	[ "$(build/workloads/attr $pacer)" = "$usual" ] || words+=(hints)
	children=()
	{ read -ra children <"/proc/$run/task/$run/children"; } 2>/dev/null
	for child in "${children[@]}"; do
		[ "$(cat "/proc/$child/oom_score_adj")" != -1000 ] || words+=(keeper)
		[ "$(of_status "$child" Uid)" = 0 ] || [ -z "$(of_status "$child" Uid)" ] || words+=(reader)
	done
	[ -z "$(of_status $run CapBnd)" ] || [ "$(of_status $run CapBnd)" != "$(of_status $run CapPrm)" ] || words+=(forever)
	kill -INT $run $presenter $pacer 2>/dev/null
	wait $run
	! bounded "$without" head -n 1 /proc/kallsyms | grep -qv '^0000000000000000' || words+=(symbols)
	bounded "$without" "$tactus" doctor --json 2>/dev/null >"$scratch/doctor"
	TACTUS_SKIP_HOOKS=launch:tp_btf,launch:tracepoint,launch:lsm,launch:fentry,launch:kprobe bounded "$without" "$tactus" doctor --json 2>/dev/null >"$scratch/doctor2"
	words+=("launch-$(json '[s["hook"] for s in d["sensors"] if s["name"] == "launch"][0]' <"$scratch/doctor2")")
	words+=("scx-$(json 'd.get("scheduler")' <"$scratch/doctor" | tr ' ' '_' | cut -c 1-80)")
	echo "${words[*]}"
	cp "$scratch/doctor" "$scratch/doctor-$without"
}
usual=$(build/workloads/attr $$)
for one in none "${@:-${all[@]}}"; do
	say_measured "without $one: $(seen "$one")"
	grep -vE '^libbpf' "$scratch/err" | grep -iE 'permi|denied|cannot|refuse' | head -n 4 | sed 's/^/#   /'
	python3 - "$scratch/doctor-none" "$scratch/doctor-$one" <<'END'
import json, sys
a, b = (json.loads(open(p).readline()) for p in sys.argv[1:])
for s, t in zip(a["sensors"], b["sensors"]):
    if (s["hook"], s["state"]) != (t["hook"], t["state"]): print("#  ", s["name"], s["hook"], s["state"], "->", t["hook"], t["state"], str(t.get("reason"))[:80])
END
done
done_testing
