#!/usr/bin/env bash
# Folders in which root writes for months or by others' names: 'record --segments' into a folder where a user put a pipe, a link or lines of
# his own, and 'export --partition' of recordings whose names lead elsewhere, or through a link of his.
. tests/tap.sh

chmod 755 "$scratch"
he=(setpriv --reuid 65534 --regid 65534 --clear-groups)
sensors=launch,gpu,wine,input,frame,socket,sound,names,learned
mkdir "$scratch/his" "$scratch/elsewhere"
chown 65534:65534 "$scratch/his"
# record FOLDER [SECONDS]: out, err, the status
record() {
	timeout -k 5 90 "$tactus" record --segments 1s --to "$1" --without "$sensors" -d "${2:-2}" >"$scratch/out" 2>"$scratch/err" </dev/null
	echo $?
}
is "segments do not go into a folder of another user" "$(record "$scratch/his") $(grep -c 'others can put files there' "$scratch/err") $(find "$scratch/his" -type f | wc -l)" "1 1 0"
mkdir -m 1777 "$scratch/open"
is "segments do not go into a folder that all can write to" "$(record "$scratch/open") $(grep -c 'others can put files there' "$scratch/err")" "1 1"
"${he[@]}" ln -s "$scratch/elsewhere" "$scratch/his/way"
is "segments do not go through another user's link" "$(record "$scratch/his/way/segments") $(find "$scratch/elsewhere" -mindepth 1 | wc -l)" "1 0"

# Root's own folder with an index that lies in wait, as one that was another user's before would have it.
mkdir "$scratch/own"
mkfifo -m 666 "$scratch/own/index.jsonl"
chown 65534 "$scratch/own/index.jsonl"
is "an index that is a pipe holds no recorder up" "$(record "$scratch/own")" 0
holds "an index that was a pipe is a file with the segments that are there" test "$(json 'len(rows)' <"$scratch/own/index.jsonl")" = "$(find "$scratch/own" -name '*.tactus' | wc -l)"
echo '{"record":"segment","file":"secret-20261118T000000Z-0001.tactus"}' >"$scratch/elsewhere/secret"
chmod 600 "$scratch/elsewhere/secret"
ln -sf "$scratch/elsewhere/secret" "$scratch/own/index.jsonl"
is "a recorder whose index is a link goes on" "$(record "$scratch/own")" 0
is "an index that is a link is not read" "$(grep -c secret "$scratch/own/index.jsonl")" 0
is "what an index was a link to is as it was" "$(grep -c . "$scratch/elsewhere/secret")" 1
python3 - "$scratch/own/index.jsonl" <<'END'
import sys
with open(sys.argv[1], "a") as index:
    index.write('{"record":"segment","file":"../../etc/passwd"}\n{"record":"segment","file":"\\u001b[2J-20261118T000000Z-0001.tactus"}\n')
    index.write("x" * 100000 + "\n" + '{"record":"segment","file":"other-20261118T000000Z-0001.tactus"}\n')
END
is "a recorder beside lines that are none goes on" "$(record "$scratch/own")" 0
is "lines of an index that lead elsewhere, or are none, are not taken over" "$(grep -cE 'passwd|xxx' "$scratch/own/index.jsonl")" 0
is "lines of other machines' segments are taken over" "$(grep -c other- "$scratch/own/index.jsonl")" 1

# Partitions.
recording() { cp examples/late-frames.tactus "$scratch/$1"; }
partition() { "$tactus" export -i "$scratch/$1" --partition "$2" >"$scratch/out" 2>"$scratch/err"; echo $?; }
for name in '..-20261118T030000Z-0001' '.x-20261118T030000Z-0001' 'a=b-20261118T030000Z-0001' $'a\033[2J-20261118T030000Z-0001' 'a b-20261118T030000Z-0001' '- 1T+2Z-3'; do
	recording "$name.tactus"
	is "a recording's name that is no machine's makes no folder: $(printf '%q' "$name")" "$(partition "$name.tactus" "$scratch/lake") $(find "$scratch/lake" -name '*.parquet' 2>/dev/null | wc -l)" "1 0"
done
holds "messages about such names are plain text" sh -c "! LC_ALL=C grep -qP '[^\\n\\t -~]' '$scratch/err'"
recording web1-20261118T030000Z-0001.tactus
is "a recording with a machine's name has its folder" "$(partition web1-20261118T030000Z-0001.tactus "$scratch/lake/") $(find "$scratch/lake" -name '*.parquet' | wc -l)" "0 1"
# A folder of tables that users may write to, too: his link in it is no way.
mkdir -m 1777 "$scratch/shared"
"${he[@]}" ln -s "$scratch/elsewhere" "$scratch/shared/host=web1"
is "a table does not go through another user's link" "$(partition web1-20261118T030000Z-0001.tactus "$scratch/shared") $(find "$scratch/elsewhere" -mindepth 1 ! -name secret | wc -l)" "1 0"
done_testing
