#!/usr/bin/env bash
# A parallel compile, run three times: without the database, with learning, and by what was learned. In the last one
# short-lived threads start in the tier of their kind. How many there are is known: each source takes one cc1 and one as.
# What is compiled is this project's own; the last run only looks, so that what it predicts is what the first one left.
. tests/tap.sh

sources=(src/base/*.c src/model/*.c src/store/*.c src/sink/*.c)
built=$scratch/build

# compile NAME OPTION...: under tactus; every change of a role goes to $scratch/NAME
compile() {
	local name=$1 status objects
	shift
	rm -rf "$built/src"
	mapfile -t objects < <(printf "$built/%s.o\n" "${sources[@]%.c}")
	# The compile's own words go elsewhere, not between two halves of a row.
	"$tactus" roles "$@" --follow --json -- sh -c 'exec make -s -j4 "$@" >&2' make B="$built" CFLAGS=-O0 "${objects[@]}" \
		>"$scratch/$name" 2>"$scratch/$name.err"
	status=$?
	cat "$scratch/$name.err"
	return "$status"
}
mkdir "$built"
cp -rp build/deps.mk build/bpf "$built"
holds "a compile without the database succeeds under tactus" compile without --without learned
holds "a compile that is learned from succeeds under tactus" compile first --learn
"$tactus" db list --json >"$scratch/db"
holds "a compile by what was learned succeeds under tactus" compile second

cat >"$scratch/starts.py" <<'END'
"""Prints how many threads of a name had a tier by what was learned within 2 ms of their exec, in one run."""
import json, sys
path, comm, tier = sys.argv[1:]
starts = set()
for line in open(path):
    row = json.loads(line)
    if row["comm"] == comm and row["tier"] == tier and row["evidence_kind"] == "learned" and row["age_ns"] < 2000000:
        starts.add((row["tid"], row["time_ns"] - row["age_ns"]))
print(len(starts))
END
starts() { python3 "$scratch/starts.py" "$scratch/$1" "$2" "$3"; }
of_kind() { json "([r['$2'] for r in rows if r['comm'] == '$1'] or ['-'])[0]" <"$scratch/db"; }

count=${#sources[@]}
for comm in cc1 as; do
	tier=$(of_kind $comm tier)
	say_measured "$comm: $tier by $(of_kind $comm observations) threads, confidence $(of_kind $comm confidence)," \
		"behavioural $(of_kind $comm behavioural_confidence); started in it: without the database $(starts without $comm "$tier")," \
		"while learning $(starts first $comm "$tier"), after it $(starts second $comm "$tier") of $count"
	is "every $comm of a compile is observed while learning" "$(of_kind $comm observations)" "$count"
	is "no $comm starts in its kind's tier without the database" "$(starts without $comm "$tier")" 0
done
is "cc1 predicts its tier after one compile" "$(of_kind cc1 predicts)" True
is "every cc1 starts in its learned tier in the compile after it" "$(starts second cc1 "$(of_kind cc1 tier)")" "$count"
# On a fast machine an as is over before it is a burden to anybody, on a slow one not: then they do not agree.
if [ "$(of_kind as predicts)" = True ]; then want=$count; else want=0; fi
is "every as starts in its learned tier where the database is sure of it, and none where not" "$(starts second as "$(of_kind as tier)")" "$want"
is "cc1 is known for batch" "$(of_kind cc1 tier)" batch
like "cc1 is known by its own program" "$(of_kind cc1 exe)" '/cc1$'
done_testing
