#!/usr/bin/env bash
# A disk that is full, and a reader that goes away, for everything that writes a file of a recording: nothing is left behind that looks like a
# whole one, what lay there before stays as it was, the status is 1 and the message one line.
# A mount namespace of its own: what is mounted is nobody else's.
if [ -z "${FULL_DISK_APART:-}" ]; then
	FULL_DISK_APART=1 exec unshare -m "$0" "$@"
fi
. tests/tap.sh

example=examples/late-frames.tactus
full=$scratch/full
mkdir "$full"
mount -t tmpfs -o size=16k none "$full"
trap 'umount "$full"; rm -rf "$scratch"' EXIT
made=$scratch/made.tactus
python3 tests/turns.py | python3 tests/recording.py "$made" 1
# leaves NAME FILE COMMAND...: into a full disk, where nothing was before, and where an earlier one was
leaves() {
	local name=$1 file=$2 status
	shift 2
	rm -rf "${full:?}"/*
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	is "$name on a full disk ends with status 1, one line, and leaves nothing" \
		"$status $(grep -c 'No space left' "$scratch/err") $(find "$full" -type f | wc -l)" "1 1 0"
	mkdir -p "$(dirname "$full/$file")"
	cp "$scratch/earlier.${file##*.}" "$full/$file"
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	holds "$name on a full disk leaves an earlier one as it was" cmp "$scratch/earlier.${file##*.}" "$full/$file"
	is "$name on a full disk leaves nothing beside an earlier one" "$status $(find "$full" -type f | wc -l)" "1 1"
}
# Small ones, of a part of a recording, as earlier outputs.
"$tactus" cut -i $example --from 1s --to 1.02s -o "$scratch/earlier.tactus" >/dev/null 2>&1
for end in pftrace csv parquet; do
	"$tactus" export -i "$scratch/earlier.tactus" -o "$scratch/earlier.$end" >/dev/null 2>&1
	head -c 8000 "$scratch/earlier.$end" >"$scratch/x"
	[ $end = parquet ] || mv "$scratch/x" "$scratch/earlier.$end"
done
"$tactus" report -i "$scratch/earlier.tactus" -o "$scratch/earlier.html" >/dev/null 2>&1
head -c 8000 "$scratch/earlier.html" >"$scratch/x" && mv "$scratch/x" "$scratch/earlier.html"
leaves "export to Perfetto" x.pftrace "$tactus" export -i $example -o "$full/x.pftrace"
leaves "export to CSV" x.csv "$tactus" export -i $example -o "$full/x.csv"
leaves "export to Parquet" x.parquet "$tactus" export -i $example -o "$full/x.parquet" --force
leaves "cut" x.tactus "$tactus" cut -i $example -o "$full/x.tactus" --force
leaves "a report" x.html "$tactus" report -i $example -o "$full/x.html"
leaves "compare --html" x.html "$tactus" compare $example $example --html "$full/x.html" --force
mkdir "$scratch/lines"
leaves "simulate -o" x.tactus "$tactus" simulate -i "$made" --kernel 6.18 --policy tactus -o "$full/x.tactus" --force
head -c 20000 /dev/zero >"$full/filling" 2>/dev/null
"$tactus" tune "$made" --recorded eevdf --write "$full/tuned.conf" >"$scratch/out" 2>"$scratch/err"
is "tune --write on a full disk ends with status 1 and leaves nothing" "$? $(grep -c 'No space left' "$scratch/err") $(find "$full" -name '*tuned*' | wc -l)" "1 1 0"
rm -f "$full"/*
# Lines are written as they come: what is there is whole lines.
"$tactus" frames -i $example --csv "$full/x.csv" >"$scratch/out" 2>"$scratch/err"
is "frames --csv on a full disk ends with status 1 and whole lines" "$? $(tail -c 1 "$full/x.csv" | od -An -c | tr -d ' ')" '1 \n'
rm -f "$full"/*
if [ "$(id -u)" = 0 ]; then
	timeout 60 "$tactus" record --segments 1s --to "$full/segments" --without launch,gpu,wine,input,frame,socket,sound,names,learned -d 20 >"$scratch/out" 2>"$scratch/err"
	status=$?
	is "segments on a full disk end with status 1, and say so" "$status $(grep -o 'No space left' "$scratch/err" | sort -u)" "1 No space left"
	read_all() { for file in "$full"/segments/*.tactus; do [ ! -e "$file" ] || "$tactus" tasks -i "$file" >/dev/null 2>"$scratch/err" || { cat "$scratch/err"; return 1; }; done; }
	holds "what segments are left on a full disk can be read" read_all
	is "no half of an index is left on a full disk" "$(find "$full" -name '.index*' | wc -l)" 0
	rm -rf "${full:?}"/*
fi

# A reader that goes away after ten bytes.
for command in "export -i $example -o - --format perfetto" "export -i $example -o - --format csv" "export -i $example -o - --format chrome" \
	"report -i $example -o -" "events -i $example" "tasks -i $example --json -n all"; do
	# shellcheck disable=SC2086 # words
	(cd "$scratch/lines" && "$(realpath "$OLDPWD/$tactus" 2>/dev/null || echo "$tactus")" ${command//examples/$OLDPWD/examples} 2>"$scratch/err"; echo $? >"$scratch/status") | head -c 10 >/dev/null
	holds "a reader that goes away ends '${command%% *} $(grep -o 'format [a-z]*' <<<"$command")' without a crash: status $(cat "$scratch/status")" \
		test "$(cat "$scratch/status")" -le 1 -o "$(cat "$scratch/status")" = 141
	is "nothing is left behind by '${command%% *} $(grep -o 'format [a-z]*' <<<"$command")' whose reader goes away" "$(find "$scratch/lines" -type f | wc -l) $(wc -l <"$scratch/err" | awk '{ print ($1 <= 2) }')" "0 1"
done
done_testing
