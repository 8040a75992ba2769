#!/usr/bin/env bash
# A user's library answers a question for a function with an address in code that others run: nobody else gets a breakpoint.
# alone: another tactus would have probes of its own there
. tests/tap.sh

if [ "$(uname -m)" != x86_64 ]; then
	skip "a told address" "the victim's code is written for x86-64"
	done_testing
fi
as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"
cp build/workloads/reported_address "$scratch/program"
mkdir "$scratch/his"

# The victim's library is root's. A byte that is written into the middle of its instruction changes what it returns.
cat >"$scratch/victim.c" <<'END'
__asm__(".globl victim\n.type victim, @function\nvictim: movabs $0x1111111111111111, %rax\n add %rdi, %rax\n ret\n.size victim, . - victim");
END
gcc -shared -fPIC "$scratch/victim.c" -o "$scratch/libvictim.so"
# The liar's library is his own.
cat >"$scratch/egl.c" <<'END'
void *answer;
__attribute__((noinline)) void *eglGetProcAddress(const char *name) { __asm__ volatile("" : : "r"(name)); return answer; }
unsigned eglSwapBuffers(void *a, void *b) { return a == b; }
END
gcc -O1 -shared -fPIC "$scratch/egl.c" -o "$scratch/his/libEGL.so.1"
# An honest program's: what it presents by has no name of its own.
cat >"$scratch/vulkan.c" <<'END'
static __attribute__((noinline)) void driver(void) { __asm__ volatile("nop; nop; nop"); }
__attribute__((noinline)) void *vkGetDeviceProcAddr(void *device, const char *name) { return device || name[2] != 'Q' ? 0 : (void *)driver; }
__attribute__((noinline)) void *vkGetInstanceProcAddr(void *instance, const char *name) { return vkGetDeviceProcAddr(instance, name); }
void vkQueuePresentKHR(void) { __asm__ volatile("nop"); }
END
gcc -O1 -shared -fPIC "$scratch/vulkan.c" -o "$scratch/his/libvulkan.so.1"
chown -R 65534:65534 "$scratch/his"

# begin NAME FD COMMAND...: in the background, its questions from the descriptor, its words in $scratch/NAME
begin() {
	local name=$1 fd=$2
	shift 2
	mkfifo "$scratch/$name.go"
	chmod 666 "$scratch/$name.go"
	: >"$scratch/$name"
	"${as_user[@]}" "$@" <"$scratch/$name.go" >"$scratch/$name" 2>&1 &
	begun=$!
	eval "exec $fd>\"$scratch/$name.go\""
	wait_for "$scratch/$name" mapped
}
# ask FD NAME COUNT WORD: one newline, until the word has come COUNT times
ask() {
	echo >&"$1"
	for _ in $(seq 300); do
		[ "$(grep -c "^$4" "$scratch/$2")" -lt "$3" ] || return 0
		sleep 0.05
	done
	flunk "a process that is asked answers"
}
in_place() { grep -F -- "$1" "$scratch/err" | grep -cE '(probes are|a probe is) in place'; }
real_egl=$(readlink -f "$(ldconfig -p | sed -n 's/.*libEGL\.so\.1 .*x86-64.*=> //p' | head -n 1)")

: >"$scratch/err"
"$tactus" roles -v --json -n all >"$scratch/roles" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
cost_before=$(cost $watcher)
# Another user's. Its results must stay what they are.
as_user=(setpriv --reuid 1 --regid 1 --clear-groups)
begin victim 4 "$scratch/program" victim "$scratch/libvictim.so" victim
as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
begin middle 5 "$scratch/program" liar "$scratch/his/libEGL.so.1" "$scratch/libvictim.so" victim 4
wait_for "$scratch/err" 'his/libEGL.so.1: probes are in place'
begin start 6 "$scratch/program" liar "$scratch/his/libEGL.so.1" "$scratch/libvictim.so" victim 0
begin driver 7 "$scratch/program" liar "$scratch/his/libEGL.so.1" "${real_egl:-$scratch/libvictim.so}" "$([ -n "$real_egl" ] && echo eglSwapBuffers || echo victim)" 5
ask 4 victim 1 computed
before=$(sed -n 's/computed //p' "$scratch/victim")
# until_said COUNT: until tactus has dealt with so many, by whatever it says of them
until_said() {
	for _ in $(seq 40); do
		[ "$(grep -cE '^tactus: frame: process [0-9]+ asked|failed to create uprobe' "$scratch/err")" -lt "$1" ] || break
		sleep 0.05
	done
}
ask 5 middle 1 asked
until_said 1
ask 4 victim 2 computed
after=$(sed -n 's/computed //p' "$scratch/victim" | tail -n 1)
is "another user's process computes the same after a liar told of the middle of its code" "$after" "$before"
ask 6 start 1 asked
ask 7 driver 1 asked
until_said 3
is "no probe is put where a liar said" "$(grep -cE 'asked where to present: a probe' "$scratch/err")" 0

# The honest one still works, in whichever of its threads; another process with the same library is left alone.
begin bystander 8 "$scratch/program" presents "$scratch/his/libvulkan.so.1" 50
bystander=$begun
begin honest 9 "$scratch/program" presents "$scratch/his/libvulkan.so.1" 50
honest=$begun
wait_for "$scratch/err" 'his/libvulkan.so.1: probes are in place'
ask 9 honest 1 asked
wait_for "$scratch/err" "process $honest asked where to present: a probe is in place"
ask 9 honest 2 asked
at_driver=$(python3 - "$honest" "$bystander" "$(sed -n 's/asked //p' "$scratch/honest" | head -n 1)" <<'END'
import sys
honest, bystander, address = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3], 16)
def base(pid):
    return min(int(l.split("-")[0], 16) for l in open(f"/proc/{pid}/maps") if "libvulkan.so.1" in l)
for pid in (honest, bystander):
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(base(pid) + address - base(honest))
        print("probed" if memory.read(1) == b"\xcc" else "untouched", end=" ")
END
)
is "the function that an honest program was told of has a breakpoint in that program alone" "$at_driver" "probed untouched "
exec 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
# A process that has ended leaves no probe behind.
sleep 1.5
descriptors=$(find "/proc/$watcher/fd" -type l | wc -l)
costs_as_before "roles beside programs that tell of addresses" $watcher "$cost_before"
kill -INT $watcher
wait $watcher
is "frames are counted that another thread presents by a function of a driver without a name" \
	"$(json "sum(r['presents'] for r in rows if r['pid'] == $honest)" <"$scratch/roles")" 50
# Three liars; on a machine where that took long, the honest one had to wait once as well.
refused=$(grep -cE '^tactus: frame: process [0-9]+ asked .* is refused' "$scratch/err")
holds "the addresses of three liars are refused ($refused)" test "$refused" -ge 3
like "refused addresses are counted and reported" "$(grep ^tactus: "$scratch/err")" "^tactus: frame: $refused addresses that programs reported were refused"
# On a busy machine a hook may be kept from its CPU and lose something for itself.
lost=$(sed -n 's/.* facts were lost.*[( ]\([0-9]*\) of frame.*/\1/p' "$scratch/err")
holds "what was refused is not taken for what a full map lost" test "${lost:-0}" -lt "$refused"
say_measured "$(grep -E '^tactus: frame: process' "$scratch/err")"

# A run tells those who ask how much it has refused.
export TACTUS_FEED=$scratch/feed
: >"$scratch/err"
"$tactus" run --actuator none >"$scratch/lines" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
begin again 5 "$scratch/program" liar "$scratch/his/libEGL.so.1" "$scratch/libvictim.so" victim 4
# The library may be noticed a moment after it was mapped.
for _ in $(seq 20); do
	ask 5 again 1 asked
	refused=$("$tactus" stats --json -d 1.6 2>"$scratch/stats-err" | json "rows[-1]['refused']['addresses']")
	[ "${refused:-0}" = 0 ] || break
done
holds "stats has how many addresses a run has refused ($refused)" test "${refused:-0}" -ge 1
like "stats says at its end what a run has refused" "$(cat "$scratch/stats-err")" '^tactus: the run: [1-9][0-9]* addresses that programs reported were refused'
like "doctor says what a run that is at work has refused" "$("$tactus" doctor --quick)" "A 'tactus run' is at work: [1-9][0-9]* addresses"
holds "doctor has what a run has refused as a number" test "$("$tactus" doctor --quick --json | json "d['run']['addresses_refused']")" -ge 1
exec 5>&-
kill -INT $watcher
wait $watcher
is "doctor without a run has none" "$("$tactus" doctor --quick --json | json "d['run']")" None
say_measured "victim computed $before before and $after after; the driver in who asked and in who did not: $at_driver; $descriptors descriptors at the end"
done_testing
