#!/usr/bin/env bash
# Where the kernel tells interrupts from threads: a frame that waited for another process is followed there, one that a timer
# ended is not put down to who just ran. Runs in a VM.
. tests/tap.sh

is "doctor says that interrupts can be told from threads" \
	"$(TACTUS_SKIP_HOOKS=launch:,gpu:,wine:,input:,frame:,socket:,sound:,learned:,cuda:,fence:,memory: "$tactus" doctor --json | json 'd["interrupts"]')" True
# The delays are longer than what the guest itself may wait for its host.
DELAYS_SAID=$scratch/err "$tactus" frames -v --why --json -o "$scratch/file" -- build/workloads/delays 50 80 1 40:400:server 60:400:sleep \
	>"$scratch/out" 2>"$scratch/err"
is "frames --why ends well" $? 0
grep '^{' "$scratch/out" >"$scratch/rows"
server=$(sed -n 's/.* server //p' "$scratch/out") own=$(sed -n 's/.* sleep //p' "$scratch/out")
{ cat "$scratch/rows"; grep ^tactus: "$scratch/err"; } | sed 's/^/# measured: /'
is "a frame that waited for a server is put down to the server, which ran" \
	"$(json '[(r["cause"], r["cause_tid"], r["cause_ns"] > 300e6) for r in rows if r.get("late_frame") == 40]' <"$scratch/rows")" "[('ran', $server, True)]"
is "a frame that slept is put down to an interrupt" \
	"$(json '[(r["cause"], r["cause_tid"], r["other_tid"], r["woken_by"]) for r in rows if r.get("late_frame") == 60]' <"$scratch/rows")" \
	"[('slept', $own, 0, 'interrupt')]"
like "the wait for a server is told in words" "$("$tactus" frames -i "$scratch/file" --why 2>/dev/null)" "it waited for delays \\[$server\\], which ran [0-9.]+ ms"
done_testing
