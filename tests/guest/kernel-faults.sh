#!/usr/bin/env bash
# Kernels that keep something back: each costs what it has to, is said in one line, and the rest works. Runs in a VM with a
# stock kernel that has sched_ext, as kernel-faults.sh CASE; called by tests/kernels/25-kernel-faults.sh and
# tests/long/36-lockdown-debian-6.18.sh, which boot with lockdown=CASE for two of them.
. tests/tap.sh

# sensor NAME: its state and hook
sensor() { json "[s['state'] + ' ' + s['hook'] for s in d['sensors'] if s['name'] == '$1'][0]" <"$scratch/doctor"; }
# missing NAME: what it can't do
missing() { json "'; '.join(m['loss'] for s in d['sensors'] if s['name'] == '$1' for m in s['missing'])" <"$scratch/doctor"; }
has_lockdown() { mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security; grep -o '\[.*\]' /sys/kernel/security/lockdown; }
# Loading other sensors takes long in emulation: they are left out where only the scheduler's are looked at.
others=launch:,gpu:,wine:,input:,frame:,socket:,sound:,learned:,cuda:,fence:,memory:,display:,feed:,jobs:
# examined WHERE [SKIPPED]: each check's name ends with where it is
examined() {
	TACTUS_SKIP_HOOKS=${2:-} "$tactus" doctor --json >"$scratch/doctor"
	is "doctor says by its status that the main job can run $1" $? 0
	is "doctor --json prints one object $1" "$(json 'len(rows)' <"$scratch/doctor")" 1
}
# sees_threads WHERE: of a command that was given
sees_threads() {
	is "tactus tasks shows the threads of a command $1" "$("$tactus" tasks --json -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done' 2>/dev/null |
		json 'any(r["comm"] == "sh" for r in rows)')" True
}

# ended_well NAME STATUS: with what it said if it did not
ended_well() {
	is "$1" "$2" 0
	[ "$2" = 0 ] || sed 's/^/# /' "$scratch/err"
}

# runs WHERE WORDS: to its end, and says so of itself
runs() {
	"$tactus" run --without all --json -d 1 >"$scratch/out" 2>"$scratch/err"
	ended_well "tactus run ends with status 0 $1" $?
	like "tactus run says whether it schedules or gives hints $1" "$(cat "$scratch/err")" "$2"
}

hardened() {
	echo 2 >/proc/sys/kernel/unprivileged_bpf_disabled
	echo 2 >/proc/sys/net/core/bpf_jit_harden
	local where="with unprivileged_bpf_disabled and bpf_jit_harden set"
	examined "$where"
	is "the sched sensor has its best hook $where" "$(sensor sched)" "ok tp_btf/sched_switch"
	is "the scheduler loads $where" "$(json 'd["sched_ext"]["loads"]' <"$scratch/doctor")" True
	sees_threads "$where"
	runs "$where" '^tactus: scheduling by sched_ext'
	is "a run's JSON counts no CPU without a timer $where" "$(json 'rows[-1]["untimed_cpus"]' <"$scratch/out")" 0
}

without_sched_ext() {
	mount -t tmpfs none /sys/kernel/sched_ext
	"$tactus" doctor --quick --json >"$scratch/doctor"
	is "doctor --quick says by its status that the main job can run on a kernel without sched_ext" $? 0
	like "doctor --quick names the option that a kernel without sched_ext was built without" "$(json 'd["sched_ext"]["reason"]' <"$scratch/doctor")" 'CONFIG_SCHED_CLASS_EXT'
	ends "tactus run --actuator scx on a kernel without sched_ext ends with one line that says so" 1 'this kernel has no sched_ext' \
		"$tactus" run --without all --actuator scx -d 0.5
	runs "on a kernel without sched_ext" "^tactus: hints to the kernel's scheduler: "
	umount /sys/kernel/sched_ext
}

without_btf() {
	mount -t tmpfs none /sys/kernel/btf
	"$tactus" doctor --json >"$scratch/doctor"
	is "doctor says by its status that the main job can't run on a kernel without BTF" $? 1
	is "the sched sensor falls back to counting switches of CPUs on a kernel without BTF" "$(sensor sched)" "fallback tracepoint/sched/sched_switch"
	like "the sched sensor's reason for its fallback names the missing BTF" "$(json '[s["reason"] for s in d["sensors"] if s["name"] == "sched"][0]' <"$scratch/doctor")" 'this kernel has no BTF'
	is "tactus cpus counts switches on a kernel without BTF" "$("$tactus" cpus -d 0.2 --json | json 'len(rows) >= 1 and sum(r["switches"] for r in rows) > 0')" True
	ends "tactus tasks on a kernel without BTF ends with one line that names it" 1 'cannot watch the scheduler: .*no BTF' "$tactus" tasks -d 0.2
	ends "tactus run on a kernel without BTF ends with one line that names it" 1 'cannot watch the scheduler: .*no BTF' "$tactus" run -d 0.2
	umount /sys/kernel/btf
}

# A later kernel may keep what tells interrupts from threads otherwise. Its BTF is put over the real one, with the same numbers.
another_preempt_count() {
	local where="where __preempt_count is a struct" absent="where __preempt_count is in no BTF"
	local loss='__preempt_count: .*incompatible types, expected .* int, but kernel has .* struct'
	build/tests/btf_spoil /sys/kernel/btf/vmlinux "$scratch/btf" __preempt_count pcpu_hot
	mount --bind "$scratch/btf" /sys/kernel/btf/vmlinux
	examined "$where" "$others"
	is "the sched sensor has its hook in part $where" "$(sensor sched)" "fallback tp_btf/sched_switch"
	is "the sched sensor misses only who is an interrupt $where" "$(missing sched)" 'whether a thread or an interrupt wakes another is not known'
	is "doctor says that interrupts are not told from threads $where" "$(json 'd["interrupts"]' <"$scratch/doctor")" False
	is "the scheduler loads $where" "$(json 'd["sched_ext"]["loads"]' <"$scratch/doctor")" True
	is "the scheduler names what it guesses $where" "$(json '[m["loss"] for m in d["sched_ext"]["missing"]]' <"$scratch/doctor")" \
		"['whether a thread or an interrupt wakes another is guessed']"
	sees_threads "$where"
	"$tactus" run --without all -d 1 >"$scratch/out" 2>"$scratch/err"
	ended_well "tactus run ends with status 0 $where" $?
	like "tactus run schedules by sched_ext $where" "$(cat "$scratch/err")" "^tactus: scheduling by sched_ext"
	is "tactus run says once each of sensor and scheduler what they miss $where, with libbpf's reason" \
		"$(grep -cE "^tactus: (sched: whether .* not known|scheduler: whether .* guessed): $loss" "$scratch/err")" 2
	umount /sys/kernel/btf/vmlinux
	build/tests/btf_spoil /sys/kernel/btf/vmlinux "$scratch/btf" -__preempt_count -pcpu_hot
	mount --bind "$scratch/btf" /sys/kernel/btf/vmlinux
	examined "$absent" "$others"
	is "doctor says that interrupts are not told from threads $absent" "$(json 'd["interrupts"]' <"$scratch/doctor")" False
	is "the sched sensor and the scheduler name the reason $absent" \
		"$(json 'sum("BTF has neither" in m["reason"] for m in d["sensors"][0]["missing"] + d["sched_ext"]["missing"])' <"$scratch/doctor")" 2
	umount /sys/kernel/btf/vmlinux
	# The scheduler asks for its timers while it is put in: that there is no room for them is feigned there.
	TACTUS_SKIP_HOOKS=scheduler:tactus_enqueue,scheduler:turn_timers "$tactus" run --without all --actuator scx --json -d 1 \
		>"$scratch/out" 2>"$scratch/err"
	ended_well "tactus run schedules where the kernel refuses the operation that asks for interrupts and has no room for timers" $?
	is "tactus run says in one line what it guesses where that operation is refused" "$(grep -cE '^tactus: scheduler: .* is guessed: tactus_enqueue: ' "$scratch/err")" 1
	is "tactus run says in one line that turns end with the tick where the kernel has no room for timers" \
		"$(grep -cE '^tactus: scheduler: turns end with the tick, .*: turn_timers: Cannot allocate memory' "$scratch/err")" 1
	is "a run's JSON counts every CPU where the kernel has no room for timers" "$(json 'rows[-1]["untimed_cpus"]' <"$scratch/out")" "$(nproc)"
}

integrity() {
	is "the kernel is locked down for integrity" "$(has_lockdown)" "[integrity]"
	examined "with lockdown=integrity"
	is "the sched sensor has its best hook with lockdown=integrity" "$(sensor sched)" "ok tp_btf/sched_switch"
	is "the scheduler loads with lockdown=integrity" "$(json 'd["sched_ext"]["loads"]' <"$scratch/doctor")" True
	sees_threads "with lockdown=integrity"
	runs "with lockdown=integrity" '^tactus: scheduling by sched_ext'
}

confidentiality() {
	local where="with lockdown=confidentiality"
	is "the kernel is locked down for confidentiality" "$(has_lockdown)" "[confidentiality]"
	examined "$where"
	is "the sched sensor has its hook in part $where" "$(sensor sched)" "fallback tp_btf/sched_switch"
	like "the sched sensor says $where that it misses changes of names" "$(missing sched)" 'a thread that changes its name keeps the old one'
	like "the sched sensor says $where that it misses what was learned before" "$(missing sched)" 'what kinds of threads were like before'
	is "every reason that the sched sensor gives $where names the lock" \
		"$(json 'all("lockdown=confidentiality" in m["reason"] for s in d["sensors"] for m in s["missing"] if s["name"] == "sched")' <"$scratch/doctor")" True
	like "the cuda sensor, which is off $where, says so" "$(json '[s["reason"] for s in d["sensors"] if s["name"] == "cuda"][0]' <"$scratch/doctor")" \
		'lockdown=confidentiality'
	say_measured "missing: $(missing sched)"
	say_measured "off: $(json '" ".join(s["name"] for s in d["sensors"] if s["state"] == "off")' <"$scratch/doctor")"
	sees_threads "$where"
	is "tactus cpus counts switches $where" "$("$tactus" cpus -d 0.2 --json | json 'sum(r["switches"] for r in rows) > 0')" True
	runs "$where" "^tactus: (hints to the kernel's scheduler: |scheduling by sched_ext)"
}

case $1 in
hardened)
	hardened
	another_preempt_count
	without_sched_ext
	without_btf
	;;
integrity | confidentiality) "$1" ;;
*) flunk "kernel-faults.sh is called with a case that it knows" "kernel-faults.sh hardened|integrity|confidentiality" ;;
esac
done_testing
