#!/usr/bin/env bash
# A parallel compile, run twice: in the second run short-lived threads start in the tier that the first run learned.
# The compile is this project's own, make -j4. Since kinds are known after three threads, the first run soon predicts as
# well: what it is like without is told by one without the database.
. tests/tap.sh

# compile NAME OPTION...: under tactus; every change of a role goes to $scratch/NAME
compile() {
	local name=$1 status
	shift
	rm -rf "$scratch/build"
	mkdir "$scratch/build"
	cp build/deps.mk "$scratch/build/"
	"$tactus" roles "$@" --follow --json -- make -s -j4 B="$scratch/build" "$scratch/build/tactus" \
		>"$scratch/$name.raw" 2>"$scratch/err"
	status=$?
	grep '^{' "$scratch/$name.raw" >"$scratch/$name"
	"$tactus" db list --json >"$scratch/$name.db"
	return "$status"
}
holds "a compile without the database" compile without --without learned
holds "a first one that learns" compile first --learn
holds "a second one" compile second --learn

python3 - "$scratch" >"$scratch/sums" <<'PYTHON'
import json, statistics, sys
folder = sys.argv[1]
read = lambda name: [json.loads(line) for line in open(f"{folder}/{name}")]
kinds = ("cc1", "as", "ld", "sh")
base = lambda row: row["comm"] in kinds
before = {row["comm"]: row for row in read("first.db") if base(row)}
after = {row["comm"]: row for row in read("second.db") if base(row)}
threads = {c: after[c]["observations"] - (before[c]["observations"] if c in before else 0) for c in after}

def reached(name, comm, tier):
    """Age at which each thread of this name was in this tier; a thread counts once for each program it ran."""
    ages, last = [], {}
    for row in read(name):
        if row["comm"] != comm:
            continue
        began = row["time_ns"] - row["age_ns"]
        new = abs(last.get(row["tid"], 0) - began) > 1000000
        if new and row["tier"] == tier and row["evidence_kind"] != "name":
            last[row["tid"]] = began
            ages.append(row["age_ns"])
    return ages

started = total = 0
for comm in kinds:
    if comm not in before or comm not in after:
        continue
    tier = before[comm]["tier"]
    ages = [reached(name, comm, tier) for name in ("without", "first", "second")]
    at_once = [sum(age < 2000000 for age in a) for a in ages]
    middle = [f"{statistics.median(a) / 1e6:.3f} ms" if a else "never" for a in ages]
    ran = [before[comm]["observations"], threads[comm]]
    total += ran[1]
    started += min(at_once[2], ran[1])
    print(f"# measured: {comm}: learned {tier} from {ran[0]} threads; without the database {len(ages[0])} came to it, {middle[0]} after "
          f"exec (median); first run: {at_once[1]} of {ran[0]} started in it; second: {at_once[2]} of {ran[1]}, {middle[2]} after exec")
print(started, total)
batch = [c for c in before if before[c]["tier"] == "batch"]
late = [a for c in batch for a in reached("without", c, "batch")]
soon = [a for c in batch for a in reached("second", c, "batch")]
print(int(statistics.median(late)) if late else 10**12, int(statistics.median(soon)) if soon else 10**12, len(batch))
PYTHON
grep '^#' "$scratch/sums"
read -r started total < <(grep -v '^#' "$scratch/sums" | head -n 1)
read -r late soon batch < <(grep -v '^#' "$scratch/sums" | tail -n 1)
say_measured "$started of $total threads of cc1, as, ld and sh started in their learned tier; those that are batch were there" \
	"$((late / 1000)) us after exec without the database, $((soon / 1000)) us in the second run (medians of those that got there)"
holds "in the second run at least 90 % start in their learned tier" test $((started * 10)) -ge $((total * 9)) -a "$total" -gt 50
holds "some kinds are batch" test "$batch" -gt 0
holds "in the second run they are so at least ten times sooner than without the database" test $((soon * 10)) -lt "$late"
is "cc1 is known for batch" "$(json '[r["tier"] for r in rows if r["comm"] == "cc1"]' <"$scratch/second.db")" "['batch']"
like "by its own program" "$(json '[r["exe"] for r in rows if r["comm"] == "cc1"]' <"$scratch/second.db")" '/cc1'
done_testing
