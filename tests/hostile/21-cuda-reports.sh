#!/usr/bin/env bash
# An ordinary user, and then the traced program itself, forge, fill, spoil and multiply what a traced program tells of its calls.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/cuda.sh

if [ "$(uname -m)" != x86_64 ]; then
	skip "what programs tell of themselves" "they do not on this kind of machine"
	done_testing
fi
export TACTUS_NVIDIA_MAJORS=1,5
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
open=$(mktemp -d /tmp/tactus-hostile.XXXXXX)
chmod 755 "$open"
trap 'rm -rf "$scratch" "$open"' EXIT
cp build/workloads/{libcuda.so.1,cuda_calls,reporter} "$open"
library=$open/libcuda.so.1 calls=$open/cuda_calls reporter=$open/reporter
mkfifo "$scratch/go"

# state: descriptors and resident kB of the tactus that runs
state() { echo "$(find "/proc/$watcher/fd" -mindepth 1 2>/dev/null | wc -l) $(awk '/RssAnon/ {print $2}' "/proc/$watcher/status")"; }
# start NAME OPTION... -- COMMAND: rows go to $scratch/out-NAME; the folder is in $folder once the command runs
start() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	rm -f "$scratch/folder"
	"$tactus" cuda --json "${options[@]}" --library "$library" -- sh -c "echo \"\${LD_AUDIT%/*}\" >'$scratch/folder'; $2" >"$scratch/out-$name" 2>"$scratch/err-$name" &
	watcher=$!
	wait_for "$scratch/folder" .
	folder=$(cat "$scratch/folder")
}
# finish NAME: its rows become $scratch/rows
finish() {
	wait $watcher
	ended=$?
	grep '^{' "$scratch/out-$1" >"$scratch/rows"
	touch "$scratch/rows"
}

echo "# a user who has nothing to do with it"
start other --sample 10 -- "read -r word <'$scratch/go'; exec '$calls' '$library' launches 5000"
said=$("${as_nobody[@]}" "$reporter" "$folder" "$library" forge)
is "an ordinary user gets neither a file nor memory to forge counts in" "$said" "file=0 memory=0"
before=$(state) cost_before=$(cost $watcher)
said=$("${as_nobody[@]}" "$reporter" "$folder" "$library" files 1200)
is "an ordinary user can't fill the folder with files, links and pipes" "$said" "files=0 odd=0"
said=$("${as_nobody[@]}" "$reporter" "$folder" "$library" often 1000)
is "an ordinary user who asks a thousand times gets nothing" "$said" "got=0"
sleep 0.5
# What other programs of this machine load meanwhile is watched too; his attack left hundreds of descriptors.
costs_as_before "cuda beside a user who forges reports" $watcher "$cost_before" 4096 16
echo go >"$scratch/go"
finish other
is "counts are exact beside an ordinary user who forges them" "$ended $(of calls calls function=cuLaunchKernel)" "0 5000"

echo "# the traced program itself, in a ring"
start lies -- "'$reporter' '$folder' '$library' lies 1 >/dev/null 2>&1; '$reporter' \"\${LD_AUDIT%/*}\" '$library' files 1200 >'$scratch/files'; (
	'$reporter' \"\${LD_AUDIT%/*}\" '$library' lies 2500 >'$scratch/lies' & '$calls' '$library' launches 20000 >/dev/null; echo done >'$scratch/honest'; wait)"
wait_for "$scratch/honest" "done"
most_fds=0 most_kb=0
while [ -d /proc/$watcher/fd ] && ! grep -q Z "/proc/$watcher/stat" 2>/dev/null; do
	read -r fds kb <<<"$(state 2>/dev/null)"
	[ "${fds:-0}" -le "$most_fds" ] || most_fds=$fds
	[ "${kb:-0}" -le "$most_kb" ] || most_kb=$kb
	sleep 0.2
done
finish lies
is "tactus ends well with a program that tells lies" $ended 0
is "the traced program finds no place for files" "$(cat "$scratch/files")" "files=0 odd=0"
is "launches of an honest program beside one that lies are all seen" "$(of launches launches kernel=saxpy)" 20000
is "launches told in the name of others' threads are nobody's" "$(json 'sum(r["table"] == "launches" and r["pid"] == 1 for r in rows)' <"$scratch/rows")" 0
holds "kernels that a program makes up are a bounded number of rows" test "$(grep -c '"launches"' "$scratch/rows")" -le 16500
is "times of launches are those of the window" "$(json 'max([r.get("total_ns", 0) for r in rows if r["table"] == "calls"]) < 60e9' <"$scratch/rows")" True
like "launches that are not believed are said to be left out" "$(cat "$scratch/err-lies")" '[0-9]+ facts were lost \(.*[0-9]+ of cuda'
say_measured "at most $most_fds descriptors, $most_kb kB; $(cat "$scratch/lies"); $(grep -o '[0-9]* facts were lost' "$scratch/err-lies")"
holds "tactus holds few descriptors for a program that tells lies" test "$most_fds" -le $((${before% *} + 30))
holds "tactus stays within 150 MB beside a program that tells lies" test "$most_kb" -le 150000

echo "# the traced program itself, in counts"
start counts --sample 10 --live -- "'$reporter' \"\${LD_AUDIT%/*}\" '$library' lies 1500 >/dev/null; '$reporter' \"\${LD_AUDIT%/*}\" '$library' size >'$scratch/size'"
finish counts
is "tactus ends well with a program whose counts are absurd" $ended 0
total=$(json 'sum(r["calls"] for r in rows if r["table"] == "calls")' <"$scratch/rows")
say_measured "counts near 2^64 that come and go were taken for $total; the memory: $(cat "$scratch/size")"
holds "counts near 2^64 are taken for no more than there was time for" python3 -c "import sys; sys.exit(not 0 <= int('${total:-0}') <= 60e9 * $(nproc))"
is "no number of --live is absurd" "$(grep -v '^{' "$scratch/out-counts" | grep -cE '[0-9]{17}|-[0-9]')" 0
is "memory to count in can neither be cut nor made larger" "$(cat "$scratch/size")" "cut=1 grow=1 fill=1 hole=0"

echo "# many"
start crowd -- "'$reporter' \"\${LD_AUDIT%/*}\" '$library' crowd 400 <'$scratch/go' >'$scratch/crowd'; '$reporter' \"\${LD_AUDIT%/*}\" '$library' often 1000 >'$scratch/often'; exec '$calls' '$library' launches 3000"
exec 3>"$scratch/go"
wait_for "$scratch/crowd" got
crowded=$(state)
got=$(sed 's/got=//' "$scratch/crowd")
is_between "of 400 processes at once some may tell, and no more than 256" 1 "$got" 256
holds "descriptors for a crowd are one a process" test "${crowded% *}" -le $((${before% *} + 260))
echo go >&3
exec 3>&-
finish crowd
is "process that asks 1,000 times is answered each time" "$(cat "$scratch/often")" "got=1000"
is "launches after a crowd are all seen" "$ended $(of launches launches kernel=saxpy)" "0 3000"
say_measured "with a crowd: $crowded descriptors and kB"
done_testing
