#!/usr/bin/env bash
# A recording is for who made it: others can't read it, lie in wait with a file or a link of that name, or have root make a file elsewhere.
. tests/tap.sh

chmod 711 "$scratch"
mkdir -m 1777 "$scratch/tmp"
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
record() { "$tactus" record --without frame,wine -d 0.2 -o "$1" >"$scratch/out" 2>"$scratch/err"; }

umask 022
record "$scratch/tmp/one"
is "record ends with status 0" $? 0
say_measured "a new recording: $(stat -c '%A %U:%G %s bytes' "$scratch/tmp/one")"
is "a new recording can be read by its owner alone" "$(stat -c %a "$scratch/tmp/one")" 600
if as_nobody cat "$scratch/tmp/one" >"$scratch/got" 2>/dev/null; then
	flunk "another user can't read a recording" "read $(wc -c <"$scratch/got") bytes"
else
	pass "another user can't read a recording"
fi
SUDO_UID=65533 SUDO_GID=65532 record "$scratch/tmp/two"
is "a recording by sudo belongs to who called" "$(stat -c '%a %u:%g' "$scratch/tmp/two")" "600 65533:65532"
SUDO_UID=65533 SUDO_GID=65532 record "$scratch/tmp/two"
is "a recording by sudo is replaced by its caller's next" $? 0
SUDO_UID=-1 SUDO_GID=x record "$scratch/tmp/three"
is "a recording with a broken SUDO_UID belongs to root" "$(stat -c '%a %u' "$scratch/tmp/three")" "600 0"

# He has a valid recording of his own lie where root will record.
cp "$scratch/tmp/one" "$scratch/tmp/trap"
chown 65534 "$scratch/tmp/trap"
chmod 666 "$scratch/tmp/trap"
before=$(cksum <"$scratch/tmp/trap")
record "$scratch/tmp/trap"
is "record into another user's file is refused" $? 1
like "record into another user's file says why" "$(cat "$scratch/err")" 'belongs to another user'
is "a file that lay in wait is unchanged" "$(cksum <"$scratch/tmp/trap")" "$before"
# Links to a place where he may write nothing: one to a file that is not there, one to root's own empty file.
mkdir -m 700 "$scratch/roots"
: >"$scratch/roots/empty"
as_nobody ln -s "$scratch/roots/new" "$scratch/tmp/link"
record "$scratch/tmp/link"
holds "record through another user's link makes no file elsewhere" test ! -e "$scratch/roots/new"
done_testing
