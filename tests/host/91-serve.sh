#!/usr/bin/env bash
# 'tactus report --serve' beside a 'tactus run': the page is live in a real browser, its numbers are the kernel's and the run's, and what is chosen on it stays.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

if ! command -v chromedriver >/dev/null || ! command -v chromium >/dev/null; then
	skip "a browser shows a page that is served" "chromium and chromium-driver are not installed"
	done_testing
fi
export TACTUS_FEED=$scratch/feed
log=$PWD/build/tests-log
mkdir -p "$log"
# It runs for a part of the time.
cp "$BASH" "$scratch/<b>yes"
mkfifo "$scratch/never"
"$scratch/<b>yes" -c 'while :; do for ((i = 0; i < 2000; i++)); do :; done; read -rt 0.02 -u 9; done' 9<>"$scratch/never" &
busy=$!
"$tactus" run --actuator none --without launch,gpu,wine,input,frame,socket,sound,names --json >"$scratch/run" 2>"$scratch/run-err" &
runner=$!
trap 'kill $busy $runner 2>/dev/null; wait; rm -rf "$scratch"' EXIT
wait_for "$scratch/run-err" "observing only"
"$tactus" report --serve 127.0.0.1:0 -o "$scratch/last.html" >"$scratch/out" 2>"$scratch/err" &
server=$!
wait_for "$scratch/err" 'the page is at http://' 600
url=$(sed -n 's/^tactus: the page is at //p' "$scratch/err" | head -n 1)
page_process=$(pgrep -P $server -x tactus-page)
python3 tests/serve_page.py "$scratch" "$log" "$url" $busy "$scratch/run" $server >"$scratch/browser" 2>&1
status=$?
browser_results $status
# The browser's test ends it, unless it came to another end.
[ $status = 0 ] || kill -INT $server
wait $server
is "a page that is served ends with status 0 on Ctrl-C" $? 0
holds "at the end the page is in the file of -o" grep -q '^<!-- tactus report' "$scratch/last.html"
is "the process that answers browsers ends with its server" "${page_process:+known} $(cat "/proc/$page_process/comm" 2>/dev/null)" "known "
done_testing
