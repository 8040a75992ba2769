# What tests of 'tactus cuda --json' share: its rows and the program's own words apart, and sums over the rows. Source it.
# shellcheck shell=bash disable=SC2154

# rows_of COMMAND...: rows go to $scratch/rows, what the program says to $scratch/said
rows_of() {
	"$@" >"$scratch/out" 2>"$scratch/err"
	local status=$?
	grep '^{' "$scratch/out" >"$scratch/rows"
	grep -v '^{' "$scratch/out" >"$scratch/said"
	return $status
}
# of TABLE FIELD [KEY=VALUE]: the sum of a number over the rows that fit, or their texts. Rows are taken apart once for all
# questions: starting Python takes longer than everything else.
of() {
	[ "$scratch/fields" -nt "$scratch/rows" ] || python3 - "$scratch/rows" >"$scratch/fields" <<'END'
import json, sys
for row in map(json.loads, open(sys.argv[1])):
    print(*(f"{key}={value}".replace("\t", " ").replace("\n", " ") for key, value in row.items()), sep="\t")
END
	awk -F'\t' -v table="table=$1" -v field="$2" -v where="${3:-}" '
		{
			is_of = is_where = 0
			value = ""
			for (i = 1; i <= NF; i++) {
				is_of += $i == table
				is_where += where == "" || $i == where
				if (index($i, field "=") == 1)
					value = substr($i, length(field) + 2)
			}
			if (!is_of || !is_where)
				next
			if (value ~ /^-?[0-9]+$/)
				sum += value
			else
				text = text (text == "" ? "" : " ") value
		}
		END { if (text == "") printf "%d\n", sum; else print text }' "$scratch/fields"
}
