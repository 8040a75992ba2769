#!/usr/bin/env bash
# Kernels that keep something back: each costs what it has to, is said in one line, and the rest works. Runs in a VM with a
# stock kernel that has sched_ext, as kernel-faults.sh CASE; called by tests/vm/25-kernel-faults.sh, which boots with
# lockdown=CASE for two of them.
. tests/tap.sh

# sensor NAME: its state and hook
sensor() { json "[s['state'] + ' ' + s['hook'] for s in d['sensors'] if s['name'] == '$1'][0]" <"$scratch/doctor"; }
# missing NAME: what it can't do
missing() { json "'; '.join(m['loss'] for s in d['sensors'] if s['name'] == '$1' for m in s['missing'])" <"$scratch/doctor"; }
has_lockdown() { mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security; grep -o '\[.*\]' /sys/kernel/security/lockdown; }
examined() {
	"$tactus" doctor --json >"$scratch/doctor"
	is "the main job can run $1" $? 0
	is "doctor has one object $1" "$(json 'len(rows)' <"$scratch/doctor")" 1
}
# Says which thread ran, of a command that was given.
sees_threads() {
	is "tasks sees a command's threads $1" "$("$tactus" tasks --json -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done' 2>/dev/null |
		json 'any(r["comm"] == "sh" for r in rows)')" True
}

# ended_well NAME STATUS: with what it said if it did not
ended_well() {
	is "$1" "$2" 0
	[ "$2" = 0 ] || sed 's/^/# /' "$scratch/err"
}

# runs WHERE WORDS: to its end, and says so of itself
runs() {
	"$tactus" run --without all -d 1 >"$scratch/out" 2>"$scratch/err"
	ended_well "run ends well $1" $?
	like "run says what it does $1" "$(cat "$scratch/err")" "$2"
}

hardened() {
	echo 2 >/proc/sys/kernel/unprivileged_bpf_disabled
	echo 2 >/proc/sys/net/core/bpf_jit_harden
	examined "with unprivileged_bpf_disabled and bpf_jit_harden set"
	is "the sched sensor has its best hook there" "$(sensor sched)" "ok tp_btf/sched_switch"
	is "the scheduler loads there" "$(json 'd["sched_ext"]["loads"]' <"$scratch/doctor")" True
	sees_threads "there"
	runs "with unprivileged_bpf_disabled and bpf_jit_harden set" '^tactus: scheduling by sched_ext'
}

without_sched_ext() {
	mount -t tmpfs none /sys/kernel/sched_ext
	"$tactus" doctor --quick --json >"$scratch/doctor"
	is "the main job can run without sched_ext" $? 0
	like "doctor says what is missing for sched_ext" "$(json 'd["sched_ext"]["reason"]' <"$scratch/doctor")" 'CONFIG_SCHED_CLASS_EXT'
	ends "who wants sched_ext alone is told that there is none" 1 'this kernel has no sched_ext' \
		"$tactus" run --without all --actuator scx -d 0.5
	runs "without sched_ext" "^tactus: hints to the kernel's scheduler: "
	umount /sys/kernel/sched_ext
}

without_btf() {
	mount -t tmpfs none /sys/kernel/btf
	"$tactus" doctor --json >"$scratch/doctor"
	is "doctor says by its status that the main job can't run without BTF" $? 1
	is "the sched sensor counts switches of CPUs without BTF" "$(sensor sched)" "fallback tracepoint/sched/sched_switch"
	like "the reason names BTF" "$(json '[s["reason"] for s in d["sensors"] if s["name"] == "sched"][0]' <"$scratch/doctor")" 'this kernel has no BTF'
	is "cpus works without BTF" "$("$tactus" cpus -d 0.2 --json | json 'len(rows) >= 1 and sum(r["switches"] for r in rows) > 0')" True
	ends "tasks without BTF ends with one line that names it" 1 'cannot watch the scheduler: .*no BTF' "$tactus" tasks -d 0.2
	ends "run without BTF ends with one line that names it" 1 'cannot watch the scheduler: .*no BTF' "$tactus" run -d 0.2
	umount /sys/kernel/btf
}

# A later kernel may keep what tells interrupts from threads otherwise. Its BTF is put over the real one, with the same numbers.
another_preempt_count() {
	local loss='__preempt_count: .*incompatible types, expected .* int, but kernel has .* struct'
	build/tests/btf_spoil /sys/kernel/btf/vmlinux "$scratch/btf" __preempt_count pcpu_hot
	mount --bind "$scratch/btf" /sys/kernel/btf/vmlinux
	examined "where __preempt_count is a struct"
	is "the sched sensor has its hook there, in part" "$(sensor sched)" "fallback tp_btf/sched_switch"
	is "what the sched sensor misses is named, and nothing else is missed" "$(missing sched)" 'whether a thread or an interrupt wakes another is not known'
	is "doctor says that interrupts are not told" "$(json 'd["interrupts"]' <"$scratch/doctor")" False
	is "the scheduler loads there" "$(json 'd["sched_ext"]["loads"]' <"$scratch/doctor")" True
	is "what the scheduler guesses is named" "$(json '[m["loss"] for m in d["sched_ext"]["missing"]]' <"$scratch/doctor")" \
		"['whether a thread or an interrupt wakes another is guessed']"
	sees_threads "there"
	"$tactus" run --without all -d 1 >"$scratch/out" 2>"$scratch/err"
	ended_well "run ends well there" $?
	like "run schedules there" "$(cat "$scratch/err")" "^tactus: scheduling by sched_ext"
	is "run says once of each what is missed, with libbpf's reason" \
		"$(grep -cE "^tactus: (sched: whether .* not known|scheduler: whether .* guessed): $loss" "$scratch/err")" 2
	umount /sys/kernel/btf/vmlinux
	build/tests/btf_spoil /sys/kernel/btf/vmlinux "$scratch/btf" -__preempt_count -pcpu_hot
	mount --bind "$scratch/btf" /sys/kernel/btf/vmlinux
	examined "where __preempt_count is in no BTF"
	is "doctor says that interrupts are not told where __preempt_count is in no BTF" "$(json 'd["interrupts"]' <"$scratch/doctor")" False
	is "both the sched sensor and the scheduler name the reason" \
		"$(json 'sum("BTF has neither" in m["reason"] for m in d["sensors"][0]["missing"] + d["sched_ext"]["missing"])' <"$scratch/doctor")" 2
	umount /sys/kernel/btf/vmlinux
	TACTUS_SKIP_HOOKS=scheduler:tactus_enqueue "$tactus" run --without all --actuator scx -d 1 >"$scratch/out" 2>"$scratch/err"
	ended_well "run schedules where the kernel refuses the operation that asks for interrupts" $?
	is "run says in one line what is guessed then" "$(grep -cE '^tactus: scheduler: .* is guessed: tactus_enqueue: ' "$scratch/err")" 1
}

integrity() {
	is "the kernel is locked down for integrity" "$(has_lockdown)" "[integrity]"
	examined "with lockdown=integrity"
	is "the sched sensor has its best hook there" "$(sensor sched)" "ok tp_btf/sched_switch"
	is "the scheduler loads there" "$(json 'd["sched_ext"]["loads"]' <"$scratch/doctor")" True
	sees_threads "there"
	runs "with lockdown=integrity" '^tactus: scheduling by sched_ext'
}

confidentiality() {
	is "the kernel is locked down for confidentiality" "$(has_lockdown)" "[confidentiality]"
	examined "with lockdown=confidentiality"
	is "the sched sensor has its hook there, in part" "$(sensor sched)" "fallback tp_btf/sched_switch"
	like "what it misses is named: names" "$(missing sched)" 'a thread that changes its name keeps the old one'
	like "what it misses is named: what was learned" "$(missing sched)" 'what kinds of threads were like before'
	is "every reason that is about the lock names it" \
		"$(json 'all("lockdown=confidentiality" in m["reason"] for s in d["sensors"] for m in s["missing"] if s["name"] == "sched")' <"$scratch/doctor")" True
	like "a sensor that is off for it says so" "$(json '[s["reason"] for s in d["sensors"] if s["name"] == "cuda"][0]' <"$scratch/doctor")" \
		'lockdown=confidentiality'
	say_measured "missing: $(missing sched)"
	say_measured "off: $(json '" ".join(s["name"] for s in d["sensors"] if s["state"] == "off")' <"$scratch/doctor")"
	sees_threads "there"
	is "cpus works there" "$("$tactus" cpus -d 0.2 --json | json 'sum(r["switches"] for r in rows) > 0')" True
	runs "with lockdown=confidentiality" "^tactus: (hints to the kernel's scheduler: |scheduling by sched_ext)"
}

case $1 in
hardened)
	hardened
	another_preempt_count
	without_sched_ext
	without_btf
	;;
integrity | confidentiality) "$1" ;;
*) flunk "a case is named" "kernel-faults.sh hardened|integrity|confidentiality" ;;
esac
done_testing
