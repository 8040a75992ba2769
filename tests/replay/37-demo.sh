#!/usr/bin/env bash
# 'make demo' where something is missing: one line says what, and what to do.
. tests/tap.sh

# Not as root, who would have packages installed.
as_nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi; }
off_line() { if [ "$(id -u)" = 0 ]; then as_nobody_off_line "$@"; else unshare -rn "$@"; fi; }
as_nobody_off_line() { unshare -n setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

chmod 755 "$scratch"
mkdir -m 777 "$scratch/home"
cp -rs /usr/bin "$scratch/bin"
# The checkout may lie where root alone can look.
mkdir "$scratch/tree"
cp -r tools vm bench "$scratch/tree/"
chmod -R a+rX "$scratch/tree"
rm -f "$scratch/bin"/qemu-*
demo=(env -u TACTUS_CACHE -u XDG_CACHE_HOME "HOME=$scratch/home" "PATH=$scratch/bin" "$scratch/tree/tools/demo.sh")
ends "the demo without QEMU ends with a line that says how to get it" 1 "^tactus: demo: QEMU is missing: .*apt-get install qemu-system-x86" \
	as_nobody "${demo[@]}"

if ! off_line true 2>/dev/null || ! command -v apt-get >/dev/null; then
	skip "the demo without a network says so" "there is no apt-get, or no network namespace is to be had"
	done_testing
fi
ln -s /bin/true "$scratch/bin/qemu-system-x86_64"
off_line timeout 120 "${demo[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
is "the demo without a network ends with an error" $? 1
is "the demo without a network says so in one line, after what it tried" "$(grep -c '^tactus: ' "$scratch/err")" 1
like "the demo without a network says so at its end" "$(tail -n 1 "$scratch/err")" '^tactus: .*check the network'
is "the demo without a network prints no figures" "$(cat "$scratch/out")" ""
done_testing
