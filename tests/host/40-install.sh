#!/usr/bin/env bash
# What a packager and a stranger do: install below DESTDIR, take it out again, carry the static binary elsewhere.
# "Elsewhere" is a folder with nothing in it but the binary: no libc, no shell.
. tests/tap.sh

holds "make install" make -s install DESTDIR="$scratch/root" PREFIX=/usr
is "puts in the program and its manual, no more" "$(cd "$scratch/root" && find . -type f | sort | tr '\n' ' ')" \
	"./usr/sbin/tactus ./usr/share/man/man8/tactus.8 "
like "the installed program works" "$("$scratch/root/usr/sbin/tactus" --version)" '^tactus '
holds "make uninstall" make -s uninstall DESTDIR="$scratch/root" PREFIX=/usr
is "takes everything out" "$(find "$scratch/root" -type f)" ""

holds "make static" make -s static
like "needs no library" "$(ldd build/tactus-static 2>&1)" 'not a dynamic executable|statically linked'
mkdir -p "$scratch/elsewhere/sys" "$scratch/elsewhere/proc"
cp build/tactus-static "$scratch/elsewhere/tactus"
unshare -m sh -c 'mount --rbind /sys "$1/sys" && mount --rbind /proc "$1/proc" && exec chroot "$1" /tactus cpus -d 0.3 --json' \
	- "$scratch/elsewhere" >"$scratch/out" 2>"$scratch/err"
is "in a root of its own it watches the scheduler" $? 0
holds "and counts switches" test "$(json 'sum(r["switches"] for r in rows)' <"$scratch/out")" -gt 0

holds "the whole program builds clean with clang" make -s clang
like "and runs" "$(TACTUS=build/clang/tactus build/clang/tactus --version)" '^tactus '
holds "lint is clean" make -s lint
done_testing
