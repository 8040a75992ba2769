#!/usr/bin/env bash
# The suite's own programs over made-up tests in a tree of their own: what tests/run.sh and tests/repeat.sh run, say and count.
. tests/tap.sh

# By an ordinary user, whoever runs this.
as_nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi; }

tree=$scratch/tree
said=$scratch/said
chmod 755 "$scratch"
mkdir -p "$tree"/tests/{unit,replay,host,hostile,vm} "$tree"/{tools,vm,build,marks,tmp,bin}
cp tests/{run,results,tap,repeat}.sh "$tree/tests/"
cp tools/lib.sh "$tree/tools/"

# program FILE: from standard input
program() { cat >"$tree/$1" && chmod 755 "$tree/$1"; }
# made_up NAME HEAD: a test of one sentence and these lines
made_up() { { printf '#!/usr/bin/env bash\n%s\n. tests/tap.sh\n' "$2"; cat; echo done_testing; } | program "tests/$1.sh"; }

# In place of the build, which says how it was called, and of what a VM needs.
program bin/make <<<'#!/bin/sh
echo "$*" >>marks/make'
for name in qemu-system-x86_64 hackbench cyclictest stress-ng aplay nginx wrk modinfo; do program "bin/$name" <<<'#!/bin/sh'; done
program vm/kernel.sh <<'END'
#!/bin/sh
[ "$1" != --exact ] || shift
echo "$1: not in the archive" >&2
[ "$1" != gone ] || exit 3
[ "$1" != spoilt ] || exit 1
END

made_up replay/10-good "# A good test. Its second sentence is not shown." <<'END'
pass "the good check passes"
pass "the other good check passes"
skip "a check of what is not here passes" "it is not here"
END
made_up replay/11-bad "# A bad test." <<'END'
pass "the check before the bad one passes"
is "the bad check" 1 2
END
made_up replay/12-silent "# A test that says less than it planned." <<'END'
pass "the only check of three passes"
checks=3
END
made_up replay/13-still "# A test that stands still." <<'END'
pass "the check before standing still passes"
sleep 987654
END
made_up replay/14-waits "# A test that waits in vain." <<'END'
echo "what is there" >"$scratch/lines"
wait_for "$scratch/lines" "what is missing" 2
is "wait_for in vain fails" $? 1
wait_for "$scratch/lines" "what is there" 2
is "wait_for of what is there succeeds" $? 0
END
for name in {20..31}; do made_up "replay/$name-quick" "# A quick test." <<<'pass "a quick check passes"'; done
# Two that meet, and one that meets nobody.
for name in 40-meets:41-meets 41-meets:40-meets; do
	made_up "replay/${name%:*}" "# A test that another runs beside." <<-END
		touch marks/${name%:*}
		until [ -e marks/${name#*:} ]; do sleep 0.05; done
		pass "the other runs at the same time"
	END
done
for name in {50..54}-of-five; do
	made_up "replay/$name" "# A test that waits for four others." <<-'END'
		touch "marks/$(basename "$0")"
		until [ "$(ls marks/*-of-five.sh | wc -l)" = 5 ]; do sleep 0.05; done
		pass "four others run at the same time"
	END
done
for name in 42-apart 43-apart; do
	made_up "replay/$name" "# A test that is kept apart.
# not beside: made-up tests" <<-'END'
		holds "no other of its row runs at the same time" mkdir marks/apart
		sleep 0.3
		rmdir marks/apart
	END
done
made_up replay/44-alone "# A test that wants the machine.
# alone: it looks around" <<'END'
is "no other runs beside the one that is alone" "$(ls marks/beside)" ""
END
made_up replay/60-early "# A test that takes longest.
# early: it takes longest" <<<'pass "the early check passes"'
made_up replay/45-beside "# A test beside which another may not run." <<'END'
mkdir -p marks/beside && touch marks/beside/me
sleep 0.3
rm marks/beside/me
pass "the test beside passes"
END
made_up host/10-of-root "# A test of this kernel." <<<'is "the test of this kernel runs as root" "$(id -u)" 0'
made_up hostile/10-attack "# An attack." <<<'pass "the attack fails"'
made_up vm/10-unsteady "# An unsteady test." <<'END'
mkdir marks/been-there 2>/dev/null
is "the unsteady check passes" $? 1
END
made_up vm/11-wrong "# A test that is always wrong." <<<'is "the wrong check passes" 1 2'
made_up vm/12-gone "# A test of a kernel that is gone.
# kernel: gone" <<<'pass "a kernel that is gone runs"'
made_up vm/13-spoilt "# A test of a kernel that can not be made.
# kernel: spoilt" <<<'pass "a kernel that can not be made runs"'
made_up vm/14-ready "# A test of a kernel that is there.
# kernel: ready" <<<'pass "a kernel that is there runs"'

# suite PROGRAM WORDS...: in the tree; leaves $said and status behind
suite() {
	[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$tree"
	as_nobody env -u V -u TEST_LOGS -u TACTUS_TEST_OF TMPDIR="$tree/tmp" HOME="$tree" TEST_LIMIT_S="${limit_s:-60}" PATH="$tree/bin:$PATH" bash -c 'cd "$1" && shift && exec "$@"' - \
		"$tree" "$@" >"$said" 2>&1 </dev/null
	status=$?
}
# The line of what was said, without the seconds at its beginning.
line_of() { sed -E 's/^ *[0-9]+ s  //' "$said" | grep -E -- "$1"; }
# What was said from a line on to the next empty one.
part_of() { sed -n "/$1/,/^\$/p" "$said"; }

suite tests/run.sh replay/10-good
is "a run of what passes ends with success" $status 0
is "a run builds the program and what tests run, once" "$(cut -d ' ' -f 1-2,4- "$tree/marks/make")" "--no-print-directory -s all test-workloads"
is "a test's beginning is a line with its name and the first sentence of its head" "$(line_of '^begins')" "begins  replay/10-good: A good test"
like "a test's end is a line with its results, its time and how many are left" "$(line_of '^ok ')" \
	'^ok      replay/10-good: 2 passed, 1 skipped in [0-9.]+ s; 0 left$'
is "a check that was skipped is named with the reason" "$(grep -c '^          skipped: a check of what is not here passes: it is not here$' "$said")" 1
is "a run closes with the sums of checks that passed, failed and were skipped" "$(tail -n 1 "$said")" "2 passed, 0 failed, 1 skipped"

suite tests/run.sh replay/10-good replay/11-bad replay/12-silent replay/14-waits
is "a run of what fails ends with failure" $status 1
like "a test that failed ends with a line that says so" "$(line_of '^FAILED  replay/11')" '^FAILED  replay/11-bad: 1 passed, 1 failed in [0-9.]+ s; [0-9] left$'
is "how many are left counts down to none" "$(sed -nE 's/.*; ([0-9]+) left$/\1/p' "$said" | xargs)" "3 2 1 0"
is "a failure is repeated at the end with its reason" "$(part_of '^Failed:' | grep -A 2 '^replay/11-bad ')" \
	"replay/11-bad (build/tests-log/replay/11-bad.log)
    not ok 2 - the bad check
    # got '1', want '2'"
like "a test with fewer results than planned has failed" "$(part_of '^Failed:')" 'not ok - exit status 0, 1 results where 3 was planned'
is "a wait in vain is a failure by itself, with what was there" "$(part_of '^Failed:' | grep -A 2 '^replay/14-waits ')" \
	"replay/14-waits (build/tests-log/replay/14-waits.log)
    not ok 1 - a line like 'what is missing' comes within 0 s
    # lines ends with: what is there"
is "the sums count checks that passed beside those that failed" "$(tail -n 1 "$said")" "6 passed, 3 failed, 1 skipped"

limit_s=1 suite tests/run.sh replay/13-still
like "a test that stands still has failed by that" "$(part_of '^Failed:')" 'not ok - the test comes to its end within 1 s'
like "a test that stands still is ended with what it began" "$(cat "$tree/build/tests-log/replay/13-still.log")" '^# left behind, and ended now: .*sleep'

suite tests/run.sh replay/{20..31}-quick replay/40-meets replay/41-meets replay/42-apart replay/43-apart replay/45-beside replay/44-alone
is "tests run side by side, but for those whose heads keep them apart" "$(tail -n 1 "$said")" "18 passed, 0 failed, 0 skipped"
is "the slowest tests are ten" "$(part_of '^The slowest' | grep -cE '^ +[0-9.]+ +[0-9.]+  replay/')" 10
is "the slowest tests begin with the one that took longest" "$(part_of '^The slowest' | awk '/replay/ {print $1}')" \
	"$(part_of '^The slowest' | awk '/replay/ {print $1}' | sort -rn)"

suite tests/run.sh replay/20-quick replay/44-alone replay/60-early
is "a test whose head says early begins first" "$(line_of '^begins' | head -n 1)" "begins  replay/60-early: A test that takes longest"

suite tests/run.sh replay/{50..54}-of-five
is "five tests run side by side where no guest takes a CPU" "$(tail -n 1 "$said")" "5 passed, 0 failed, 0 skipped"

suite tests/run.sh replay/10-good host hostile vm
is "a run with a test that fails at its second try too ends with failure" $status 1
is "a test of this kernel is skipped by name where the runner is not root" "$(line_of 'host/10')" "skipped host/10-of-root: needs root"
is "an attack is skipped by name where the runner is not root" "$(line_of 'hostile/10')" "skipped hostile/10-attack: needs root"
is "a test in a VM runs without root" "$(line_of '^ok +vm/14' | sed 's/ in .*//')" "ok      vm/14-ready: 1 passed"
is "a test of a kernel that is gone is skipped by name" "$(line_of '^skipped vm/12')" "skipped vm/12-gone: kernel gone: gone: not in the archive"
is "a test of a kernel that can not be made is skipped by name" "$(line_of '^skipped vm/13')" "skipped vm/13-spoilt: kernel spoilt: spoilt: not in the archive"
is "a kernel that can not be made is a failure with its last lines" "$(part_of '^Failed:' | grep -A 1 '^kernel/spoilt')" "kernel/spoilt
spoilt: not in the archive"
like "a test on a kernel that failed is announced to be run once more" "$(line_of '^FAILED  vm/10')" '^FAILED  vm/10-unsteady: 1 failed in [0-9.]+ s, to be run once more by itself; [0-9] left$'
is "the second try is a line with what failed at the first" "$(line_of '^again +vm/10')" "again   vm/10-unsteady, by itself: not ok 1 - the unsteady check passes"
is "a test that passes at its second try is named as unsteady with what failed" "$(part_of '^Unsteady' | grep -v '^Others on the same hardware')" \
	"Unsteady: failed beside others, passed by themselves:
vm/10-unsteady (build/tests-log/vm/10-unsteady.first.log)
    not ok 1 - the unsteady check passes
    # got '0', want '1'"
is "a test that fails at both tries is among the failures" "$(part_of '^Failed:' | grep -A 1 '^vm/11')" "vm/11-wrong (build/tests-log/vm/11-wrong.log)
    not ok 1 - the wrong check passes"
is "the sums count a second try instead of the first, and each test that was skipped" "$(tail -n 1 "$said")" "4 passed, 2 failed, 5 skipped"

suite tests/run.sh replay/99-missing
is "a run of a test that is not there ends with status 2" $status 2
is "a run of a test that is not there says so in one line" "$(cat "$said")" "tactus: tests/run.sh: no test or layer is called 'replay/99-missing'"

suite tests/repeat.sh -j 2 2 replay/10-good replay/11-bad
is "repeated tests of which one fails end with failure" $status 1
is "a repeated test that passes has a line for each round" "$(grep -cE '^round [12] of 2: ok      replay/10-good: 2 passed in [0-9.]+ s$' "$said")" 2
is "a repeated test that fails has a line for each round, with the file that is kept" \
	"$(grep -cE '^round ([12]) of 2: FAILED  replay/11-bad: 1 passed, 1 failed in [0-9.]+ s \(build/tests-repeat/replay/11-bad.failed-\1.log\)$' "$said")" 2
is "a failure of a repeated test comes with its reason" "$(grep -c "^    # got '1', want '2'" "$said")" 2
is "failures of repeated tests are counted by test" "$(line_of 'failed [0-9]+ times')" "replay/11-bad: failed 2 times"
is "repeated tests close with how many runs and failures there were" "$(tail -n 1 "$said")" "4 runs, 2 failures"
suite tests/repeat.sh 1 replay/10-good
is "repeated tests that all pass end with success" "$status: $(tail -n 1 "$said")" "0: 1 runs, 0 failures"

if [ "$(id -u)" = 0 ]; then
	as_nobody() { "$@"; }
	suite tests/run.sh host/10-of-root
	is "a test of this kernel runs where the runner is root" "$(tail -n 1 "$said")" "1 passed, 0 failed, 0 skipped"
else
	skip "a test of this kernel runs where the runner is root" "needs root"
fi
# What a soak's looks say of a library whose probes outlive it: rows as tests/soak_looks.py writes them, 20 s apart, of a library that somebody maps for the first minute.
# looks TOOK KEPT: how long a look at all processes takes, and how long the probes stay
looks() {
	python3 - "$1" "$2" <<-'END'
		import json, sys
		took, kept = float(sys.argv[1]), int(sys.argv[2])
		for s in range(0, 2000, 20):
		    has = s < 60 + kept
		    print(json.dumps({"s": s, "took": took, "kb": 1000, "cpu": s, "kinds": {"map 1": 1}, "libraries": {"/soak-1/libX.so": 2} if has else {}, "mapped": ["/soak-1/libX.so"] if s < 60 else [], "threads": 9}))
	END
}
# stale TOOK KEPT: what the verdict names
stale() { looks "$1" "$2" >"$scratch/looks" && tests/soak_looks.py verdict "$scratch/looks" /soak- | sed -n 's/^stale\t//p'; }
is "a soak's library whose probes went after ten minutes and two looks is not named" "$(stale 0.1 640)" ""
like "a soak's library whose probes stayed for twelve minutes on a machine that looks quickly is named" "$(stale 0.1 740)" '^/soak-1/libX.so 7[0-9]+ s$'
is "a soak's library whose probes stayed for twelve minutes on a machine that takes three seconds for a look is not named" "$(stale 3 740)" ""
like "a soak's library whose probes stayed for sixteen minutes on a machine that takes three seconds for a look is named" "$(stale 3 960)" '^/soak-1/libX.so 9[0-9]+ s$'
done_testing
