#!/usr/bin/env bash
# What makes a fault harder to use is in the binary, and one that was built without any part of it is found.
. tests/tap.sh

cat >"$scratch/program.c" <<'END'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	char text[16];
	strcpy(text, argv[argc - 1]);
	return puts(text);
}
END
hardened=(-O2 -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -pie -Wl,-z,relro,-z,now,-z,noexecstack)
build() { gcc "${hardened[@]}" "$@" "$scratch/program.c" -o "$scratch/program" 2>"$scratch/err" || cat "$scratch/err"; }
# lacks WHAT FLAG...: a binary that was built with these flags behind the others
lacks() {
	local what=$1
	shift
	build "$@"
	is "a binary without $what is found" "$(tools/hardened.sh "$scratch/program")" "$scratch/program: $what is missing"
}
is "tactus is hardened" "$(tools/hardened.sh "$tactus")" ""
build
is "a binary that was built as tactus is has nothing missing" "$(tools/hardened.sh "$scratch/program")" ""
lacks FORTIFY -U_FORTIFY_SOURCE
lacks "the stack protector" -fno-stack-protector
lacks BIND_NOW -Wl,-z,lazy
lacks RELRO -Wl,-z,norelro
lacks PIE -no-pie -fno-pie
lacks "a stack that is not executable" -Wl,-z,execstack
is "what is no binary is found" "$(tools/hardened.sh "$scratch/program.c" | head -n 1)" "$scratch/program.c: is no binary"
done_testing
