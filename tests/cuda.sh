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
# of TABLE FIELD [KEY=VALUE]: the sum of a number over the rows that fit
of() {
	python3 - "$scratch/rows" "$@" <<'END'
import json, sys
table, field, where = sys.argv[2], sys.argv[3], [w.split("=", 1) for w in sys.argv[4:]]
rows = [json.loads(line) for line in open(sys.argv[1])]
rows = [r for r in rows if r["table"] == table and all(str(r[k]) == v for k, v in where)]
print(sum(r[field] for r in rows) if rows and not isinstance(rows[0][field], str) else " ".join(r[field] for r in rows) or 0)
END
}
