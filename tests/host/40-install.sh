#!/usr/bin/env bash
# What a packager and a stranger do: install below DESTDIR, take it out again, carry the static binary elsewhere.
# "Elsewhere" is a folder with nothing in it but the binary: no libc, no shell. What takes long goes on meanwhile.
. tests/tap.sh

# Before the others, since both would make what it lacks.
holds "make static links the program" make -s static
make -s -j2 clang >"$scratch/clang" 2>&1 &
clang=$!
tools/lint.sh quick >"$scratch/lint" 2>&1 &
lint=$!

holds "make install succeeds below DESTDIR" make -s install DESTDIR="$scratch/root" PREFIX=/usr
is "make install puts in the program, its manual, completion for three shells, a sample config and the files of services, no more" \
	"$(cd "$scratch/root" && find . -type f | sort | tr '\n' ' ')" \
	"./usr/lib/systemd/system/tactus.service ./usr/sbin/tactus ./usr/share/bash-completion/completions/tactus ./usr/share/doc/tactus/com.feralinteractive.GameMode.service ./usr/share/doc/tactus/tactus.conf ./usr/share/fish/vendor_completions.d/tactus.fish \
./usr/share/man/man8/tactus.8 ./usr/share/zsh/site-functions/_tactus "
like "the installed program tells its version" "$("$scratch/root/usr/sbin/tactus" --version)" '^tactus '
holds "make uninstall succeeds below DESTDIR" make -s uninstall DESTDIR="$scratch/root" PREFIX=/usr
is "make uninstall takes out every file" "$(find "$scratch/root" -type f)" ""

like "the static program needs no library" "$(ldd build/tactus-static 2>&1)" 'not a dynamic executable|statically linked'
mkdir -p "$scratch/elsewhere/sys" "$scratch/elsewhere/proc"
cp build/tactus-static "$scratch/elsewhere/tactus"
unshare -m sh -c 'mount --rbind /sys "$1/sys" && mount --rbind /proc "$1/proc" && exec chroot "$1" /tactus cpus -d 0.3 --json' \
	- "$scratch/elsewhere" >"$scratch/out" 2>"$scratch/err"
is "the static program watches the scheduler in a root of its own" $? 0
holds "the static program counts switches in a root of its own" test "$(json 'sum(r["switches"] for r in rows)' <"$scratch/out")" -gt 0

# ended NAME PID FILE: the command in the background has succeeded; what it said is in the file
ended() {
	local status=0
	wait "$2" || status=$?
	if [ $status = 0 ]; then pass "$1"; else flunk "$1" "$(tail -n 40 "$3")"; fi
}
ended "the whole program builds with clang without a warning" $clang "$scratch/clang"
like "the program that clang built tells its version" "$(build/clang/tactus --version)" '^tactus '
ended "lint is clean but for what cppcheck would say" $lint "$scratch/lint"
done_testing
