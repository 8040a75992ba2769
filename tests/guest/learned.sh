#!/usr/bin/env bash
# Learning on this kernel: a kind is learned by name and program, a new thread of it starts in its tier, the maps are pinned.
# Runs in the VM.
. tests/tap.sh

without=launch,gpu,wine,input,frame,socket,sound,names
cp build/workloads/pace "$scratch/prog"
"$tactus" roles --learn --without $without -- sh -c "for i in 1 2 3 4; do '$scratch/prog' 0 1 1500 >/dev/null; done" >/dev/null 2>"$scratch/err"
is "tactus learns and ends well" $? 0
"$tactus" db list prog --json >"$scratch/known"
is "a program's kind is known by its path, with its tier and every thread" \
	"$(json 'd["exe"] == "'"$scratch"'/prog", d["tier"], d["observations"]' <"$scratch/known")" "True batch 4"
say_measured "it predicts with $(json 'd["behavioural_confidence"]' <"$scratch/known")"
# Under emulation runs differ so much that this may be too little: a database from elsewhere is sure.
python3 -c "
import struct
open('$scratch/pddb', 'wb').write(b'PDDB' + struct.pack('<II', 2, 1) + b'prog'.ljust(16, b'\0') + struct.pack('<B7xQQQQII', 0, 1000, 1, 1, 1, 9, 9))"
"$tactus" db import "$scratch/pddb" >/dev/null
"$tactus" roles --follow --json --without $without -- "$scratch/prog" 0 1 300 2>"$scratch/err" | grep '^{' >"$scratch/follow"
is "a new thread of a learned kind starts in its tier" \
	"$(json '[(r["tier"], r["age_ns"] < 2000000) for r in rows if r["comm"] == "prog" and r["evidence_kind"] == "learned"][:1]' <"$scratch/follow")" \
	"[('batch', True)]"
: >"$scratch/err"
"$tactus" run --actuator none --without $without >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "observing only"
is "the maps are pinned, for root alone" "$(stat -c %a /sys/fs/bpf/tactus) $(cd /sys/fs/bpf/tactus && echo *)" "700 observed predicted"
kill -KILL $runner
wait $runner 2>/dev/null
"$tactus" run --actuator none --without $without -d 0.5 >/dev/null 2>"$scratch/err"
is "a run starts and ends well after one that was killed" $? 0
holds "pinned maps are gone when a run has ended" test ! -e /sys/fs/bpf/tactus
holds "the database is whole after all runs" "$tactus" db check
done_testing
