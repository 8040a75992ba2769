#!/usr/bin/env bash
# tactus cuda --sample on a command that counts its calls itself (detour/): exact against what the program did, whichever way it
# came by its functions, and never in the program's way. On the double of libcuda.so.1.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/cuda.sh

library=$PWD/build/workloads/libcuda.so.1
calls=$PWD/build/workloads/cuda_calls
export TACTUS_NVIDIA_MAJORS=1,5
if [ "$(uname -m)" != x86_64 ]; then
	skip "calls that count themselves" "there is no library for this kind of machine"
	done_testing
	exit
fi

# sampled OPTION... -- COMMAND...: rows go to $scratch/rows, what the program says to $scratch/said; one call in 100
sampled() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	rows_of "$tactus" cuda --json --sample 100 --library "$library" "${options[@]}" -- "$@"
}
# without_trap: how many calls were counted that way; all the others trapped
without_trap() { sed -n 's/.* \([0-9]*\) calls were counted without a trap.*/\1/p' "$scratch/err"; }
folders() { find /run/tactus/cuda /var/lib/tactus/cuda -mindepth 1 -maxdepth 1 2>/dev/null | sort; }
before=$(folders)

echo "# by dlsym"
sampled -- "$calls" "$library" rate 1000000
is "a command that counts itself ends well" $? 0
is "every launch of a command that counts itself is counted" "$(of calls calls function=cuLaunchKernel)" 1000000
is "every launch of a command that counts itself is counted without a trap" "$(without_trap)" 1000000
is "a hundredth of the launches of a command that counts itself is seen" "$(of calls seen function=cuLaunchKernel)" 10000
is "launches that are seen are told by name, with sizes" "$(of launches launches kernel=saxpy) $(of launches grid) $(of launches block) $(of launches shared_bytes)" \
	"10000 7x2x1 128x2x1 256"
is "nothing is said in the name of a command that counts itself" "$(grep -v '^tactus:' "$scratch/err")" ""
detour_ns=$(sed -n 's/launch_ns=//p' "$scratch/said")
sampled --no-detour -- "$calls" "$library" rate 1000000
is "--no-detour: every launch is counted" "$(of calls calls function=cuLaunchKernel)" 1000000
like "--no-detour: that calls trap is said" "$(cat "$scratch/err")" 'every call was counted by a trap: --no-detour'
trap_ns=$(sed -n 's/launch_ns=//p' "$scratch/said")
say_measured "a launch takes $detour_ns ns where it counts itself, $trap_ns ns where it traps"

echo "# other ways to a function"
sampled -- "$calls" "$library" address 20000
is "a program that asks cuGetProcAddress ends well" $? 0
# The double's cuLaunchKernelEx and cuStreamSynchronize begin with something else than a push.
is "cuGetProcAddress hands out functions that count" "$(of calls calls function=cuLaunchKernel) $(of calls calls function=cuLaunchKernelEx) $(without_trap)" \
	"20000 20000 20000"
is "launches by cuGetProcAddress are told with their arguments" "$(of calls seen function=cuLaunchKernel) $(of launches launches kernel=saxpy)" \
	"200 $((200 + $(of calls seen function=cuLaunchKernelEx)))"
cat >"$scratch/linked.c" <<'END'
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int main(void)
{
	for (int i = 0; i < 30000; i++)
		if (cuLaunchKernel("kernel", 5, 1, 1, 32, 1, 1, 0, 0, 0, 0))
			return 1;
	return 0;
}
END
for when in lazy now; do
	gcc -O2 -no-pie -Wl,-z,$when -o "$scratch/linked-$when" "$scratch/linked.c" "$library" -Wl,-rpath,"${library%/*}"
	sampled -- "$scratch/linked-$when"
	is "linked, bound $when: ends well" $? 0
	is "linked, bound $when: every launch is counted without a trap" "$(of calls calls function=cuLaunchKernel) $(of calls seen function=cuLaunchKernel) $(without_trap)" "30000 300 30000"
done
gcc -O2 -fno-plt -Wl,-z,now -o "$scratch/linked-pointer" "$scratch/linked.c" "$library" -Wl,-rpath,"${library%/*}"
sampled -- "$scratch/linked-pointer"
is "every launch by a pointer that nobody is asked about is counted" "$? $(of calls calls function=cuLaunchKernel)" "0 30000"
sampled -- sh -c "env true; exec '$calls' '$library' launches 5000"
is "at the end of a chain of programs every launch is counted without a trap" "$? $(of calls calls function=cuLaunchKernel) $(without_trap)" "0 5000 5000"
sampled -- "$calls" "$library" again 5000
is "launches of a library that is closed and opened again are counted without a trap" "$? $(of calls calls function=cuLaunchKernel) $(without_trap)" "0 10000 10000"
sampled -- "$calls" "$library" elsewhere 5000
is "launches in another linker namespace are counted without a trap" "$? $(of calls calls function=cuLaunchKernel) $(without_trap)" "0 5000 5000"

echo "# threads, children, ends"
sampled -- "$calls" "$library" threads 1000000
seen=$(of calls seen function=cuLaunchKernel)
is "two threads: launches are counted exactly" "$(of calls calls function=cuLaunchKernel) $(without_trap)" "2000000 2000000"
is_between "sampled launches of two threads: one in a hundred is seen" 19990 "$seen" 20010
for set in default all; do
	sampled --api $set -- "$calls" "$library" signals 5000000
	is "signals whose handler calls, --api $set: exact ($(cat "$scratch/said"))" "$? launches=$(of calls calls function=cuLaunchKernel)" \
		"0 $(sed 's/ .*//' "$scratch/said")"
	is "signals whose handler calls, --api $set: no launch was counted by a trap" "$(without_trap)" "$(of calls calls function=cuLaunchKernel)"
done
sampled -- "$calls" "$library" fork 5000
is "a forked child's are counted by traps, and none twice" "$? $(of calls calls function=cuLaunchKernel) $(without_trap)" "0 10000 5000"
is "launches of a process and its forked child are told apart" "$(json 'len({r["pid"] for r in rows if r["table"] == "launches"})' <"$scratch/rows")" 2
sampled -- sh -c "'$calls' '$library' launches 5000 & '$calls' '$library' launches 7000; wait"
is "launches of two processes are counted" "$? $(of calls calls function=cuLaunchKernel)" "0 12000"
like "two processes that count themselves are told" "$(cat "$scratch/err")" '12000 calls were counted without a trap, in 2 processes'
sampled -- "$calls" "$library" killed 12345
is "a command that is killed: everything up to then" "$? $(of calls calls function=cuLaunchKernel)" "137 12345"

echo "# both ends"
sampled --api all -- "$calls" "$library" failing 3000
is "errors are exact, seen or not" "$? $(of calls calls function=cuLaunchKernel) $(of calls errors function=cuLaunchKernel)" "0 3000 1000"
is "errors that are not seen are no traps" "$(of calls seen function=cuLaunchKernel)" 30
sampled --api all --no-detour -- "$calls" "$library" failing 3000
is "errors are exact by traps" "$(of calls calls function=cuLaunchKernel) $(of calls errors function=cuLaunchKernel)" "3000 1000"
sampled --api all -- "$calls" "$library" arguments 100000
is "22 arguments arrive, wherever the stack is" $? 0
is "calls with 22 arguments are counted once" "$(of calls calls function=cuDoubleManyArguments) $(of calls errors function=cuDoubleManyArguments)" "100000 0"
sampled -- "$calls" "$library" copies 200
is "copies and waits inside them are counted" "$(of calls calls function=cuMemcpyHtoD_v2) $(of calls calls function=cuStreamSynchronize)" "200 200"
sampled -- "$calls" "$library" leak
is "memory is followed whole" "$(of memory total_bytes memory=device) $(of never_freed bytes memory=device)" "$((8 << 20)) $((3 << 20))"
"$tactus" cuda --json --library "$library" --count 'cu*' -- "$calls" "$library" launches 50000 >"$scratch/rows" 2>"$scratch/err"
is "--count counts calls and sees none" "$(of calls calls function=cuLaunchKernel) $(of calls calls function=cuInit) $(of calls seen)" "50000 1 0"
sampled -o "$scratch/file" -- "$calls" "$library" launches 5000
"$tactus" cuda --json -i "$scratch/file" >"$scratch/rows"
is "a recording of a command that counts itself has the same count" "$(of calls calls function=cuLaunchKernel)" 5000
out=$("$tactus" cuda --live --sample 1000 --library "$library" -- "$calls" "$library" rate 150000000 2>&1)
told=$(printf '%s\n' "$out" | awk '$1 ~ /^[0-9]+$/ && NF >= 5 {sum += $1} END {print sum + 0}')
# Were it those seen alone, there could be no more than one in a thousand: lines of 20 seconds would have 7,500 in a second.
holds "--live --sample counts all launches, not those seen alone ($told)" test "$told" -gt 1500000

echo "# without --sample: launches that the program tells of itself"
# told WHAT N [OPTION...]
told() {
	local what=("$1" "$2")
	shift 2
	rows_of "$tactus" cuda --json -v --library "$library" "$@" -- "$calls" "$library" "${what[@]}"
}
told rate 40000
is "a command that tells of its launches ends well" $? 0
is "every launch is seen, and counted once" "$(of calls calls function=cuLaunchKernel) $(of calls seen function=cuLaunchKernel) $(without_trap)" \
	"40000 40000 40000"
is "launches that are told are told by name, with sizes" "$(of launches launches kernel=saxpy) $(of launches grid) $(of launches block) $(of launches shared_bytes)" \
	"40000 7x2x1 128x2x1 256"
told_ns=$(sed -n 's/launch_ns=//p' "$scratch/said")
told rate 40000 --no-detour
is "--no-detour: all launches are seen by probes" "$(of calls seen function=cuLaunchKernel) $(without_trap)" "40000 "
trap_ns=$(sed -n 's/launch_ns=//p' "$scratch/said")
say_measured "a launch takes $told_ns ns where it is told, $trap_ns ns where it traps"
"$tactus" cuda --json --library "$library" -- "$calls" "$library" launches 100 >"$scratch/rows" 2>"$scratch/err"
is "nothing is said in the name of a command that tells" "$(grep -v '^tactus: the kernel did not show' "$scratch/err")" ""
told threads 20000 -o "$scratch/file"
is "launches that two threads tell of are seen" "$(of calls seen function=cuLaunchKernel) $(of launches launches kernel=saxpy) $(without_trap)" "40000 40000 40000"
sort "$scratch/rows" >"$scratch/live"
"$tactus" cuda --json -i "$scratch/file" >"$scratch/rows"
is "a recording of launches that are told says what was seen live" "$(sort "$scratch/rows" | cmp - "$scratch/live" 2>&1)" ""
"$tactus" cuda -i "$scratch/file" -o "$scratch/trace.jsonl" >/dev/null
is "launches that are told are in order, each thread's between its first call and its last" "$(python3 - "$scratch/trace.jsonl" <<'END'
import collections, json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert all(a["ts"] <= b["ts"] for a, b in zip(rows, rows[1:])), "times in order"
launches = collections.Counter(r["tid"] for r in rows if r["name"] == "cuLaunchKernel")
for tid in launches:
    last = max(r["ts"] for r in rows if r["tid"] == tid and r["name"] == "cuLaunchKernel")
    wait = min(r["ts"] for r in rows if r["tid"] == tid and r["name"] == "cuStreamSynchronize")
    assert last <= wait, (tid, last, wait)
print(sorted(launches.values()))
END
)" "[20000, 20000]"
told fork 10000
is "launches of a forked child are probed" "$(of calls seen function=cuLaunchKernel) $(without_trap)" "20000 10000"
is "launches told by a process and probed in its child are told apart" "$(json 'len({r["pid"] for r in rows if r["table"] == "launches"})' <"$scratch/rows")" 2
told address 10000
is "launches by cuGetProcAddress are told" "$(of calls seen function=cuLaunchKernel) $(of calls seen function=cuLaunchKernelEx) $(without_trap)" "10000 10000 10000"
told killed 12345
is "launches of a command that is killed are told" "$? $(of calls seen function=cuLaunchKernel)" "137 12345"
told signals 40000
is "signals whose handler launches ($(cat "$scratch/said"))" "launches=$(of calls seen function=cuLaunchKernel)" "$(sed 's/ .*//' "$scratch/said")"
told copies 20
is "calls that are no launches are probed beside launches that are told" "$(of calls seen function=cuMemcpyHtoD_v2) $(of copies bytes 'kind=host to device')" "20 $((20 << 20))"
told rate 400000 --ring-kb 16384
is "launches that find no room are probed, and all are counted" "$(of calls calls function=cuLaunchKernel)" 400000
lost=$(sed -n 's/.* \([0-9]*\) events were lost.*/\1/p' "$scratch/err")
is "launches that find no room are seen or lost (${lost:-0})" $(($(of calls seen function=cuLaunchKernel) + ${lost:-0})) 400000

echo "# where it can't be"
mkdir "$scratch/other"
gcc -shared -nostdlib '-DFIRST=sub $8,%rsp' '-DLAST=add $8,%rsp' -o "$scratch/other/libcuda.so.1" bench/cuda/entry.S
"$tactus" cuda --json --sample 100 --library "$scratch/other/libcuda.so.1" -- "$calls" "$scratch/other/libcuda.so.1" launches 5000 \
	>"$scratch/rows" 2>"$scratch/err"
is "launches of a library whose functions begin otherwise are counted" "$? $(of calls calls function=cuLaunchKernel)" "0 5000"
like "cuda says that a library whose functions begin otherwise is counted by traps" "$(cat "$scratch/err")" 'counted by a trap: no program took .* begins otherwise'
sampled -C 0-$(($(nproc) - 1)) -- "$calls" "$library" launches 5000
is "launches are counted where only some CPUs are watched" "$(of calls calls function=cuLaunchKernel)" 5000
like "cuda says that probes count where only some CPUs are watched" "$(cat "$scratch/err")" 'counted by a trap: only some'
echo 'int main(void) { return 7; }' >"$scratch/seven.c"
if gcc -static -o "$scratch/seven" "$scratch/seven.c" 2>/dev/null; then
	sampled -- "$scratch/seven"
	is "a static program is as it was" "$? $(grep -v '^tactus:' "$scratch/err")" "7 "
else
	skip "a static program" "no static C library here"
fi
if gcc -m32 -o "$scratch/seven32" "$scratch/seven.c" 2>/dev/null && "$scratch/seven32"; [ $? = 7 ]; then
	sampled -- "$scratch/seven32"
	is "a 32-bit program goes on" $? 7
	is "the loader of a 32-bit program says in one line that it does without" "$(grep -v '^tactus:' "$scratch/err" | grep -c 'ELFCLASS64.*ignored') $(grep -vc '^tactus:' "$scratch/err")" "1 1"
else
	skip "a 32-bit program" "none can be made or run here"
fi
cat >"$scratch/own.c" <<'END'
#define _GNU_SOURCE
#include <link.h>
unsigned int la_version(unsigned int version) { return version; }
unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) { return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int number, uintptr_t *from, uintptr_t *to, unsigned int *flags, const char *name)
{
	/* The maps of both, which none but this auditor can have changed. */
	return ((struct link_map *)*from)->l_addr && ((struct link_map *)*to)->l_addr ? symbol->st_value : 0;
}
END
gcc -shared -fPIC -nostdlib -o "$scratch/own.so" "$scratch/own.c"
LD_AUDIT=$scratch/own.so sampled -- sh -c "echo \"\$LD_AUDIT\"; exec '$calls' '$library' launches 5000"
like "an auditor of the user's stays" "$(cat "$scratch/said")" "^$scratch/own.so:/.*/tactus/cuda/[0-9a-f]{32}/detour.so$"
is "calls count themselves beside an auditor of the user's" "$(of calls calls function=cuLaunchKernel) $(without_trap)" "5000 5000"
for mode in --sample=100 -v; do
	"$tactus" cuda --json $mode --library "$library" -- sh -c "ulimit -f 8; exec '$calls' '$library' launches 5000" >"$scratch/rows" 2>"$scratch/err"
	is "a program that may write no large file counts itself all the same, $mode" "$? $(of calls calls function=cuLaunchKernel) $(without_trap)" "0 5000 5000"
done
if id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	mkdir -m 755 /tmp/tactus-test-nobody.$$
	cp "$calls" "$library" /tmp/tactus-test-nobody.$$
	"$tactus" cuda --json --sample 100 --library /tmp/tactus-test-nobody.$$/libcuda.so.1 -- setpriv --reuid nobody --clear-groups \
		/tmp/tactus-test-nobody.$$/cuda_calls /tmp/tactus-test-nobody.$$/libcuda.so.1 launches 5000 >"$scratch/rows" 2>"$scratch/err"
	is "another user's program counts itself too" "$? $(of calls calls function=cuLaunchKernel) $(without_trap)" "0 5000 5000"
	rm -r /tmp/tactus-test-nobody.$$
else
	skip "another user's program" "no such user, or no setpriv"
fi
is "no folder of commands that counted themselves is left behind" "$(folders)" "$before"

"$tactus" cuda --sample 100 --library "$library" -- sh -c "'$calls' '$library' rate 60000000 >'$scratch/rate'; echo \$? >'$scratch/status'" \
	>"$scratch/rows" 2>"$scratch/err" &
watcher=$!
# Until it counts; not for ever.
for _ in $(seq 600); do
	folders | grep -vxF "$before" >"$scratch/folder" && grep -qs tactus-counts /proc/[0-9]*/maps && break
	sleep 0.05
done
kill -KILL $watcher
wait $watcher 2>/dev/null
wait_for "$scratch/status" .
is "tactus is killed: its command goes on to its end" "$(cat "$scratch/status")" 0
holds "tactus is killed: its folder is left behind" test -d "$(cat "$scratch/folder")"
sampled -- true
is "a folder that a killed tactus left behind is removed by the next" "$(folders)" "$before"
done_testing
