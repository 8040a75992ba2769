#!/usr/bin/env bash
# An ordinary user tries to have root's programs load his library in place of the one that 'tactus cuda -- CMD' gives its command.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/cuda.sh

library=$PWD/build/workloads/libcuda.so.1
calls=$PWD/build/workloads/cuda_calls
export TACTUS_NVIDIA_MAJORS=1,5
if [ "$(uname -m)" != x86_64 ]; then
	skip "a library for traced programs" "there is none for this kind of machine"
	done_testing
fi
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
# Where nobody can read, and root's programs can write.
open=$(mktemp -d /tmp/tactus-hostile.XXXXXX)
chmod 755 "$open"
trap 'rm -rf "$scratch" "$open"' EXIT
cat >"$open/evil.c" <<END
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
unsigned int la_version(unsigned int version) { return version; }
__attribute__((constructor)) static void take_over(void)
{
	FILE *file = fopen("$scratch/owned", "a");
	if (file) {
		fprintf(file, "uid %d\n", (int)geteuid());
		fclose(file);
	}
}
END
gcc -shared -fPIC -o "$open/evil.so" "$open/evil.c" && chmod 755 "$open/evil.so"

echo "# a program that is left behind"
mkfifo "$scratch/go"
cat >"$scratch/leaver.sh" <<END
echo "\$LD_AUDIT" >"$scratch/path"
"$calls" "$library" launches 100 >/dev/null
setsid sh -c 'read -r word <"$scratch/go"; /usr/bin/env true 2>"$scratch/complaint"; echo done >"$scratch/later"' </dev/null >/dev/null 2>&1 &
END
"$tactus" cuda --json --sample 10 --library "$library" -- sh "$scratch/leaver.sh" >"$scratch/rows" 2>"$scratch/err"
is "a command that leaves a program behind ends well" "$? $(of calls calls function=cuLaunchKernel)" "0 100"
path=$(cat "$scratch/path")
holds "what is loaded is gone when tactus has ended" test ! -e "$path"
"${as_nobody[@]}" sh -c "umask 022; mkdir -p '${path%/*}' && cp '$open/evil.so' '$path'" 2>"$scratch/refused"
is "an ordinary user can't put his library where the program that is left behind looks" "$(test -e "$path" && echo there)" ""
echo go >"$scratch/go"
wait_for "$scratch/later" "done"
is "a program of root's that is left behind loads nothing of an ordinary user's" "$(cat "$scratch/owned" 2>/dev/null)" ""
say_measured "as nobody: $(head -n 1 "$scratch/refused"); the program left behind: $(head -n 1 "$scratch/complaint" | cut -c 1-100)"
[ ! -e "$path" ] || rm -r "${path%/*}"

echo "# while tactus runs"
cat >"$scratch/waits.sh" <<END
echo "\$LD_AUDIT" >"$scratch/path2"
read -r word <"$scratch/go"
exec "$calls" "$library" launches 1000
END
"$tactus" cuda --json --sample 10 --library "$library" -- sh "$scratch/waits.sh" >"$scratch/rows" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/path2" .
path=$(cat "$scratch/path2") writable="" part=$(cat "$scratch/path2")
while [ "$part" != / ]; do
	part=$(dirname "$part")
	"${as_nobody[@]}" test ! -w "$part" || writable+="$part "
done
is "no part of the library's path can be written to by an ordinary user" "$writable" ""
is "an ordinary user can't list the folders that libraries lie in" "$("${as_nobody[@]}" ls "${path%/*/*}" 2>/dev/null | grep -c "$(basename "${path%/*}")")" 0
is "nothing in the folder can be written to by an ordinary user but the socket" \
	"$(find "${path%/*}" -perm /022 ! -type s 2>/dev/null | grep -c .)" 0
is "the library is root's, and so is its folder" "$(stat -c %u "$path" "${path%/*}" | sort -u)" 0
"${as_nobody[@]}" sh -c "mv '${path%/*}' '${path%/*}.old'; rm -f '$path'; cp '$open/evil.so' '$path'; ln -s /etc '${path%/*}/plan-1-1'" 2>/dev/null
echo go >"$scratch/go"
wait $watcher
is "counts are exact while an ordinary user tries to replace the library" "$? $(of calls calls function=cuLaunchKernel)" "0 1000"

echo "# what the library itself believes"
cat >"$scratch/ask.py" <<'END'
import os, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
listener.listen()
listener.settimeout(float(sys.argv[2]))
print("ready", flush=True)
try:
    listener.accept()[0].close()
    print("asked", flush=True)
except socket.timeout:
    print("not asked", flush=True)
END
: >"$scratch/status"
"$tactus" cuda --sample 10 --library "$library" -- sh -c "echo \$LD_AUDIT >'$scratch/path3'; read -r word <'$scratch/go'" >/dev/null 2>&1 &
watcher=$!
wait_for "$scratch/path3" .
path=$(cat "$scratch/path3")
# Whatever tactus starts next clears away what a killed one left: a copy stays, as safe a place for root's programs. The library has
# the folder's name in it.
left=$(mktemp -d /run/tactus-hostile.XXXXXX)
trap 'rm -rf "$scratch" "$open" "$left"' EXIT
cp -a "${path%/*}/." "$left"
python3 - "$left/${path##*/}" "${path%/*}" "$left" <<'END'
import os, sys
name, old, new = (os.fsencode(word) for word in sys.argv[1:])
with open(name, "r+b") as library:
    at = library.read().index(old + b"\0")
    library.seek(at)
    library.write(new.ljust(len(old), b"\0"))
END
path=$left/${path##*/}
kill -KILL $watcher
wait $watcher 2>/dev/null
echo go >"$scratch/go"
# believed OWNER: whether a program with the library takes a folder of this owner, and a plan and a listener in it, for tactus'
believed() {
	rm -f "${path%/*}/ask" "$scratch/asked"
	python3 "$scratch/ask.py" "${path%/*}/ask" 10 >"$scratch/asked" &
	local listener=$!
	wait_for "$scratch/asked" ready
	chown -R "$1" "${path%/*}"
	LD_AUDIT=$path "$calls" "$library" launches 10 >/dev/null 2>&1
	# The listener may hear of it only when the program has ended.
	for _ in $(seq 40); do
		[ "$(tail -n 1 "$scratch/asked")" = ready ] || break
		sleep 0.05
	done
	kill $listener 2>/dev/null
	wait $listener 2>/dev/null
	if grep -qx asked "$scratch/asked"; then echo asked; else echo "not asked"; fi
}
if ls "${path%/*}"/plan-* >/dev/null 2>&1; then
	is "a program asks root for memory where the folder and its plan are root's" "$(believed 0)" asked
	is "a program does not ask where the folder and its plan are an ordinary user's" "$(believed 65534)" "not asked"
	chown -R 0 "${path%/*}"
	chown 65534 "${path%/*}"/plan-*
	is "a program does not ask where the plan alone is an ordinary user's" "$(chown() { :; }; believed 0)" "not asked"
else
	flunk "the folder of a tactus that was killed has a plan" "$(ls -la "${path%/*}")"
fi
rm -rf "$left"

echo "# tactus without root"
mkdir -m 700 "$open/own"
mkdir -m 777 "$open/all"
chown 65534:65534 "$open/own"
cp "$tactus" "$open/tactus"
cp "$calls" "$library" "$open"
caps=+bpf,+perfmon,+sys_ptrace,+dac_read_search,+sys_admin
without_root() {
	(cd "$open" && env -u HOME XDG_RUNTIME_DIR="$1" TACTUS_DB="$1/db" setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" \
		./tactus cuda --json --sample 10 --library "$open/libcuda.so.1" -- sh -c 'echo "at $LD_AUDIT"; exec ./cuda_calls ./libcuda.so.1 launches 1000') >"$scratch/out" 2>"$scratch/err"
}
# A place of one's own, below folders of root's.
mkdir -m 755 /run/tactus-hostile.$$
mkdir -m 700 /run/tactus-hostile.$$/own
chown 65534:65534 /run/tactus-hostile.$$/own
trap 'rm -rf "$scratch" "$open" /run/tactus-hostile.$$' EXIT
if without_root /run/tactus-hostile.$$/own; then
	like "tactus without root puts its library into the user's own place" "$(cat "$scratch/out")" "^at /run/tactus-hostile.$$/own/tactus/cuda/[0-9a-f]{32}/detour.so$"
	like "tactus without root has its command count itself" "$(cat "$scratch/err")" '1000 calls were counted without a trap'
	is "tactus without root leaves nothing of it behind" "$(ls /run/tactus-hostile.$$/own/tactus/cuda)" ""
	without_root "$open/own"
	is "a user's place below a folder that all may write to is not taken" "$(grep -c '^at $' "$scratch/out")" 1
	like "tactus without a place for its library says so" "$(cat "$scratch/err")" 'counted by a trap: no place for its library that nobody else could write to'
else
	skip "tactus without root" "it can't watch here: $(tail -n 1 "$scratch/err")"
fi
done_testing
