#!/usr/bin/env bash
# tactus doctor tells kernels apart: sched_ext, BTF, capabilities, the hook of each sensor.
# Runs on any kernel: the host's and each VM's.
. tests/tap.sh

"$tactus" doctor --json >"$scratch/doctor"
is "doctor ends with status 0 where the main job can run" $? 0
json_facts <"$scratch/doctor" 'len(rows)' 'd["kernel"]' '" ".join(sorted(s["name"] for s in d["sensors"]))' \
	'all(set(s) == {"name","hook","state","reason","missing"} and s["reason"] for s in d["sensors"])' \
	'all(m["program"] and m["loss"] and m["reason"] and s["state"] != "ok" for s in d["sensors"] for m in s["missing"])' \
	'"; ".join(s["name"] + ": " + m["loss"] + ": " + m["reason"] for s in d["sensors"] for m in s["missing"]) or "nothing"' \
	'all(s["state"] in ("ok","fallback","off") for s in d["sensors"])' \
	'all(s["hook"] == "none" for s in d["sensors"] if s["state"] == "off")' \
	'[(s["state"], s["hook"]) for s in d["sensors"] if s["name"] == "sched"]' \
	'd["sched_ext"]["available"]' 'd["sched_ext"]["loads"]' 'd["sched_ext"]["keeps_quotas"]' 'd["sched_ext"]["loaded"]' 'bool(d["sched_ext"]["reason"])' \
	'all(c["held"] for c in d["capabilities"])' 'd["groups_sessions"]'
is "doctor in JSON is one object on one line" "${facts[0]}" 1
is "doctor tells the kernel's release" "${facts[1]}" "$(uname -r)"
is "doctor names every sensor" "${facts[2]}" "cuda display feed fence frame gpu input jobs launch learned memory sched socket sound stacks wine"
is "every sensor of doctor has a name, a hook, a state, a reason and what is missing" "${facts[3]}" True
is "whatever is missing of a sensor is named with its loss and the kernel's reason, and the sensor is not called ok" "${facts[4]}" True
say_measured "missing: ${facts[5]}"
is "the state of every sensor is ok, fallback or off" "${facts[6]}" True
is "a sensor that is off names no hook" "${facts[7]}" True
is "the sched sensor has its best hook" "${facts[8]}" "[('ok', 'tp_btf/sched_switch')]"
if [ -e /sys/kernel/sched_ext/state ]; then has=True; else has=False; fi
say_measured "$(uname -r): sched_ext available: $has"
is "sched_ext is available where the kernel has it" "${facts[9]}" $has
if [ -n "${TACTUS_VM:-}" ]; then
	is "a guest's kernel has sched_ext where its configuration says so" \
		$has "$(grep -q '^CONFIG_SCHED_CLASS_EXT=y' "/boot/config-$(uname -r)" && echo True || echo False)"
fi
is "the scheduler loads wherever there is sched_ext" "${facts[10]}" $has
# The kernel hands quotas to a scheduler from 6.17 on.
if [ $has = True ] && [ "$(printf '6.17\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.17 ]; then keeps=True; else keeps=False; fi
is "doctor tells whether cpu.max is kept under the scheduler" "${facts[11]}" $keeps
is "doctor tells that no sched_ext scheduler is loaded" "${facts[12]}" None
is "doctor gives a reason for sched_ext" "${facts[13]}" True
is "doctor tells root that every capability is held" "${facts[14]}" True
is "doctor tells whether sessions share CPUs as one each" "${facts[15]}" \
	"$([ "$(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null)" = 1 ] && echo True || echo False)"
# The same again, which takes long where CPUs are emulated.
[ -z "${TACTUS_VM:-}" ] || done_testing
TACTUS_SKIP_HOOKS=sched:on_task_rename "$tactus" doctor --json >"$scratch/doctor"
is "the main job can run where one program is refused" $? 0
is "a refused program makes its sensor a fallback and is named with what is lost" \
	"$(json '[(s["state"], s["hook"], [(m["program"], m["loss"]) for m in s["missing"]]) for s in d["sensors"] if s["name"] == "sched"]' <"$scratch/doctor")" \
	"[('fallback', 'tp_btf/sched_switch', [('on_task_rename', 'a thread that changes its name keeps the old one')])]"
"$tactus" doctor --quick --json >"$scratch/doctor"
is "--quick ends with status 0 where the main job can run" $? 0
is "--quick calls itself a guess" "$(json 'd["guessed"], all("(not loaded: a guess)" in s["reason"] for s in d["sensors"])' <"$scratch/doctor")" "True True"
is "--quick does not say that the scheduler loads" "$(json 'd["sched_ext"]["loads"]' <"$scratch/doctor")" None
like "the verdict of --quick is called a guess" "$("$tactus" doctor --quick | tail -n 1)" 'nothing was loaded: a guess'
text=$("$tactus" doctor)
like "doctor's table names the hook of the sched sensor" "$text" '^sched +ok +tp_btf/sched_switch'
like "doctor's last line says what 'tactus run' does here" "$(tail -n 1 <<<"$text")" "^'tactus run' (schedules|gives hints)"
done_testing
