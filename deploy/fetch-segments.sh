#!/bin/sh
# Copies what a host recorded of a time (segments/tactus-segments.service) to FOLDER/HOST, for every command with -i, and names each file that is there then.
# Usage: deploy/fetch-segments.sh HOST FROM TO FOLDER   (times as 'date -d' takes them: '2026-11-20 01:00', '10 minutes ago'; SSH= names another program than ssh)
# What is there already is left. The segment that a host is writing comes once it is closed, after a minute.
set -u
ssh=${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}
segments=/var/lib/tactus/segments
[ $# = 4 ] || { echo "usage: fetch-segments.sh HOST FROM TO FOLDER" >&2; exit 2; }
host=$1 folder=$4/$1
# What begins with a dash is an option to ssh; what has a slash is another folder here.
case $host in -* | */* | '' | . | ..) echo "tactus: fetch-segments.sh: '$host' is no name of a host" >&2; exit 2 ;; esac
from=$(date -d "$2" +%s 2>/dev/null) || { echo "tactus: fetch-segments.sh: '$2' is no time" >&2; exit 2; }
to=$(date -d "$3" +%s 2>/dev/null) || { echo "tactus: fetch-segments.sh: '$3' is no time" >&2; exit 2; }
[ "$from" -le "$to" ] || { echo "tactus: fetch-segments.sh: '$2' is after '$3'" >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
# plain: what a host says is text for a terminal here
plain() { tail -n 1 | LC_ALL=C tr -cd ' -~'; }
if ! $ssh "$host" "cat $segments/index.jsonl" </dev/null >"$work/index" 2>"$work/said"; then
	echo "$host: FAILED: $(plain <"$work/said")" >&2
	exit 1
fi
# A host names its files itself: names of letters, digits, dots and dashes, which lead nowhere else.
sed -nE 's/.*"file":"([A-Za-z0-9][A-Za-z0-9.-]*\.tactus)".*"from_wall_ns":([0-9]{1,10})[0-9]{9},"to_wall_ns":([0-9]{1,10})[0-9]{9}[,}].*/\1 \2 \3/p' "$work/index" >"$work/all"
awk -v from="$from" -v to="$to" '$2 <= to && $3 >= from { print $1 }' "$work/all" >"$work/wanted"
if [ ! -s "$work/wanted" ]; then
	there=$(awk 'NR == 1 { from = $2 } { to = $3 } END { if (NR) print "@" from, "@" to }' "$work/all")
	echo "$host: nothing of that time is there; it has $([ -z "$there" ] && echo nothing || echo "$(date -d "${there% *}" '+%F %T') to $(date -d "${there#* }" '+%F %T')")" >&2
	exit 1
fi
mkdir -p "$folder" || exit 1
failed=0
while read -r file <&3; do
	if [ ! -e "$folder/$file" ]; then
		if ! $ssh "$host" "cat $segments/$file" </dev/null >"$folder/$file.part" 2>"$work/said"; then
			echo "$host: $file: FAILED: $(plain <"$work/said")" >&2
			rm -f "$folder/$file.part"
			failed=1
			continue
		fi
		mv "$folder/$file.part" "$folder/$file"
	fi
	echo "$folder/$file"
done 3<"$work/wanted"
exit $failed
