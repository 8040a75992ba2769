#!/usr/bin/env bash
# The static tarballs of both architectures: checksums, binaries of their own architecture that need no library, and both work: this machine's here, the other's in a guest.
# kernel: debian-arm64
. tests/tap.sh

if [ "$(uname -m)" != x86_64 ]; then
	skip "the static tarballs of both architectures work" "this machine is no x86-64, whose guests are of arm64"
	done_testing
fi
out=build/packages/both
mkdir -p $out/unpacked $out/tables
if ! packaging/tarballs.sh $out >"$scratch/made" 2>"$scratch/err"; then
	flunk "make tarballs makes both" "$(tail -n 20 "$scratch/err")"
	done_testing
fi
pass "make tarballs makes both"
# shellcheck disable=SC2016
holds "the checksums of both are right" bash -c 'cd "$1" && sha256sum -c --quiet SHA256SUMS' - $out
is "the checksums name both" "$(sed -n 's/.*-linux-\(.*\)\.tar\.gz$/\1/p' $out/SHA256SUMS | sort | tr '\n' ' ')" "aarch64 x86_64 "
version=$(sed -n 's/^VERSION := //p' Makefile)
for arch in x86_64 aarch64; do
	tar -C $out/unpacked -xzf "$out/tactus-$version-linux-$arch.tar.gz"
	program=$out/unpacked/tactus-$version-linux-$arch/sbin/tactus
	is "the program of the tarball for $arch is of that architecture" "$(readelf -h "$program" | sed -n 's/ *Machine: *//p')" "$([ $arch = x86_64 ] && echo 'Advanced Micro Devices X86-64' || echo AArch64)"
	is "the program of the tarball for $arch needs no library and no loader" "$(readelf -ld "$program" | grep -cE 'INTERP|NEEDED')" 0
	is "the tarball for $arch brings what belongs to it" "$(cd "$out/unpacked/tactus-$version-linux-$arch" && for file in install.sh LICENSE README.md CHANGELOG.md lib/systemd/system/tactus.service share/man/man8/tactus.8 \
		share/bash-completion/completions/tactus share/zsh/site-functions/_tactus share/fish/vendor_completions.d/tactus.fish share/doc/tactus/tactus.conf; do [ -e $file ] || echo $file; done)" ""
	say_measured "$(stat -c '%n %s bytes' "$out/tactus-$version-linux-$arch.tar.gz")"
done
for view in tasks latency events roles frames; do
	"$out/unpacked/tactus-$version-linux-x86_64/sbin/tactus" $view -i examples/late-frames.tactus >"$out/tables/$view" 2>/dev/null
	holds "the tarball's program for x86_64 shows $view of a recording" test -s "$out/tables/$view"
done
CMD="tests/guest/tarball.sh $out/unpacked/tactus-$version-linux-aarch64 $out/tables" KERNEL=debian-arm64 CPUS=1 CLOCK=virtual LIMIT=900 guest
is "every check of the tarball for aarch64 on an arm64 kernel passed" $? 0
done_testing
