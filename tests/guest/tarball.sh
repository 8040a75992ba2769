#!/usr/bin/env bash
# The static tarball on another machine's kernel: it installs, and what it brings watches, serves figures, schedules and goes. Usage: tarball.sh UNPACKED-FOLDER TABLES
# TABLES has what this program's twin of another architecture made of the example's recording. Runs in a guest; nothing there was built but the tarball.
TACTUS=/usr/local/sbin/tactus
. tests/tap.sh
. tests/guest/scheduler.sh

unpacked=$1 tables=$2
machine=$(uname -m)
"$unpacked/install.sh" >"$scratch/installed" 2>"$scratch/err"
is "the tarball installs on $machine" "$? $(cat "$scratch/err")" "0 "
is "the tarball says which files it brings on $machine" "$(while read -r file; do [ -e "$file" ] || echo "$file"; done <"$scratch/installed")" ""
like "the tarball's program runs on $machine" "$("$tactus" version)" '^tactus [0-9]'
"$tactus" doctor --json >"$scratch/doctor" 2>"$scratch/err"
is "the tarball's program can watch and act on $machine" "$(json 'd["can_run"]' <"$scratch/doctor")" True
for view in tasks latency events roles frames; do
	"$tactus" $view -i examples/late-frames.tactus >"$scratch/table" 2>/dev/null
	holds "the tarball's program on $machine reads a recording as its twin does, byte by byte: $view" cmp "$scratch/table" "$tables/$view"
done
"$tactus" tasks --json -n all --without $left_out -- hackbench -g 1 -l 30 2>"$scratch/err" | grep '^{' >"$scratch/tasks"
say_measured "$(wc -l <"$scratch/tasks") threads on $machine"
holds "the tarball's program has accounts of hackbench's threads on $machine" test "$(wc -l <"$scratch/tasks")" -gt 40
"$tactus" serve --metrics 127.0.0.1:0 --without $left_out >/dev/null 2>"$scratch/serve" &
server=$!
wait_for "$scratch/serve" 'figures are at' 3000
url=$(sed -n 's/^tactus: figures are at //p' "$scratch/serve")
python3 -IS -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=600).read().decode())' "$url" >"$scratch/figures" 2>"$scratch/err"
like "the tarball's program serves figures on $machine" "$(cat "$scratch/figures")" '^tactus_build_info\{.*version="[0-9]'
kill -INT $server
wait $server
is "the tarball's program stops to serve on Ctrl-C on $machine" $? 0
start_run
is "the tarball's program schedules on $machine" "$(state)/$(cat /sys/kernel/sched_ext/root/ops)" enabled/tactus
holds "hackbench completes under the tarball's program on $machine" hackbench -g 1 -l 10
stop_run
is "the tarball's program ends well on $machine" "$?/$(state_within 100 disabled)" 0/disabled
is "nothing is left to undo on $machine" "$("$tactus" undo)" "nothing to undo"
is "no error was logged by the kernel of $machine" "$(dmesg | grep -E 'sched_ext.*(error|stall)|WARNING|BUG:')" ''
done_testing
