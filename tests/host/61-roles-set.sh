#!/usr/bin/env bash
# A part of the labelled set (bench/roles): real programs whose threads are known, as they are and with names left out.
# The whole of it is 'make bench-roles'.
set -uo pipefail
. tests/tap.sh

if [ "$(id -u)" != 0 ]; then
	skip "roles of real programs" "needs root"
	done_testing
fi
status=0
TACTUS=$tactus bench/roles/run.sh -q >"$scratch/report" 2>"$scratch/err" || status=$?
sed 's/^/# /' "$scratch/report"
grep -v '^==>' "$scratch/err" | sed 's/^/# /'

# share WAY GROUP: the percentage that the report gives
share() { awk -v way="$1:" -v group="  $2:" '/^[a-z]/ {here = $1 == way} here && index($0, group) == 1 {sub(group, ""); print $1}' "$scratch/report"; }
for way in open hidden; do
	say_measured "$way: $(share $way "in all") % in all, $(share $way frames) % of threads that present"
	holds "$way: at least 95 % of the threads are known for what they are" awk -v got="$(share $way "in all")" 'BEGIN {exit !(got >= 95)}'
	is "$way: all that present" "$(share $way frames)" 100.0
done
is "nothing failed on the way" "$status" 0
done_testing
