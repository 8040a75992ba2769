#!/usr/bin/env bash
# /etc/tactus.conf itself: what is watched takes options from it, and root takes none from a file that others can write.
# Everything below has an /etc of its own, with this machine's below it.
. tests/tap.sh

mkdir "$scratch/above" "$scratch/work"
# with_conf MODE OWNER COMMAND...: where the file lies in the usual place
with_conf() {
	local mode=$1 owner=$2
	shift 2
	install -m "$mode" -o "$owner" "$scratch/conf" "$scratch/above/tactus.conf"
	unshare -m bash -c 'mount -t overlay overlay -o "lowerdir=$1/above:/etc" /etc && shift && exec "$@"' - "$scratch" "$@"
}

printf '%s\n' '[options]' 'duration = 0.4' 'json = yes' '[options cpus]' 'columns = cpu,switches' '[games]' 'mine* = yes' >"$scratch/conf"
with_conf 644 0 "$tactus" cpus >"$scratch/out" 2>"$scratch/err"
is "a command without options ends by the file's" $? 0
is "a command without options prints as the file says" "$(json 'sorted(d)' <"$scratch/out")" "['cpu', 'record', 'schema', 'switches']"
is "the file is nothing to talk about" "$(cat "$scratch/err")" ""
is "'tactus config' knows the file's place" "$(with_conf 644 0 "$tactus" config cpus | json '[r["from"] for r in rows if r["option"] == "duration"][0]')" /etc/tactus.conf:2
is "'tactus config' knows the rules of the file" "$(with_conf 644 0 "$tactus" config | json '[r["from"] for r in rows if r["record"] == "rule"]')" "['/etc/tactus.conf:7']"
with_conf 644 0 "$tactus" cpus --config /dev/null -d 0.2 >"$scratch/out" 2>"$scratch/err"
like "--config /dev/null goes on without the file" "$(head -n 1 "$scratch/out")" '^ *CPU '

# shellcheck disable=SC2086
for what in "666 0" "664 0" "644 4711"; do
	with_conf $what "$tactus" cpus -d 0.2 >"$scratch/out" 2>"$scratch/err"
	is "root goes on beside a file that others can write ($what)" $? 0
	like "root takes nothing from a file that others can write ($what)" "$(head -n 1 "$scratch/out")" '^ *CPU '
	like "root says that it takes nothing from it ($what)" "$(cat "$scratch/err")" '^tactus: /etc/tactus.conf: others than root can write it.*going on without it$'
	is "root says once that it takes nothing from it ($what)" "$(with_conf $what "$tactus" roles -d 0.2 2>&1 >/dev/null | grep -c 'others than root')" 1
done
chmod 755 "$scratch" "$scratch/above"
printf '%s\n' '[options]' 'rows = 2' >"$scratch/mine"
chown 4711 "$scratch/mine"
chmod 644 "$scratch/mine"
ends "root refuses a named file of another user" 1 'others than root can write it' "$tactus" tasks --config "$scratch/mine" -i examples/late-frames.tactus
is "root takes a named file of who called sudo" "$(SUDO_UID=4711 SUDO_GID=4711 "$tactus" tasks --config "$scratch/mine" -i examples/late-frames.tactus --json | wc -l)" 2
done_testing
