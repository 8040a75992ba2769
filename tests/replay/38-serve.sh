#!/usr/bin/env bash
# 'tactus report --serve' without root: the page of what a 'tactus run' tells of itself, for browsers, and for whoever sends anything else. The run is a
# socket here that says what one would. No root; root becomes nobody for it.
. tests/tap.sh

chmod 711 "$scratch"
mkdir -m 777 "$scratch/feed"
export TACTUS_FEED=$scratch/feed/socket
as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
# A program that nobody may start is copied to where he may.
program=$tactus
if [ ${#as_nobody[@]} != 0 ] && ! "${as_nobody[@]}" "$tactus" --version >/dev/null 2>&1; then
	cp "$tactus" "$scratch/tactus" && chmod 755 "$scratch/tactus"
	program=$scratch/tactus
fi
# serve ERR OPTIONS...: starts it and waits until it says where; $server and $url are it
serve() {
	local err=$1
	shift
	: >"$err"
	"${as_nobody[@]}" "$program" report "$@" >"$scratch/out" 2>"$err" &
	server=$!
	wait_for "$err" 'the page is at http://|^tactus: report: ' 300
	url=$(sed -n 's/^tactus: the page is at //p' "$err")
	port=$(printf '%s' "$url" | sed -n 's|^http://[^/]*:\([0-9]*\)/.*|\1|p')
}
# checks PORT [TOKEN]
checks() {
	python3 tests/serve_requests.py "$@" >"$scratch/requests" 2>"$scratch/requests-err"
	is "the requests come to their end" "$? $(cat "$scratch/requests-err")" "0 "
	while IFS=$'\t' read -r name got want; do
		case $name in
		'#'*) printf '%s\n' "$name" ;;
		*) is "$name" "$got" "$want" ;;
		esac
	done <"$scratch/requests"
}

ends "--serve without a run and without root says what it needs" 1 "needs root .*'tactus run'.*none" "${as_nobody[@]}" "$program" report --serve 127.0.0.1:0
ends "--serve of what is no address is bad usage" 2 "no address and port" "$tactus" report --serve here
ends "--serve of a recording is bad usage" 2 'neither -i nor --json' "$tactus" report --serve 0 -i examples/late-frames.tactus
ends "--token without --serve is bad usage" 2 'is for a page that is served' "$tactus" report --token -o "$scratch/x.html"

# A run, as far as a listener can tell: a status of its own version is what its first listener got, so one that says nothing.
python3 -c 'import os, socket, sys, time
feed = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); feed.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); feed.listen(8); print("up", flush=True)
kept = []
while True:
    kept.append(feed.accept())' "$TACTUS_FEED" >"$scratch/feed-out" &
feed=$!
wait_for "$scratch/feed-out" up
serve "$scratch/err" --serve 127.0.0.1:0
like "a page that is served says where" "$url" '^http://127\.0\.0\.1:[0-9]+/$'
page_process=$(pgrep -P "$server" -x tactus-page)
status_of() { awk -v field="$1:" '$1 == field { print $2 }' "/proc/$page_process/status"; }
is "what answers browsers has no capability, and only few system calls" "$(status_of CapEff) $(status_of NoNewPrivs) $(status_of Seccomp)" "0000000000000000 1 2"
before=$(status_of VmRSS)
checks "$port"
after=$(status_of VmRSS)
say_measured "the process that answers has $before KB before all that, $after KB after it"
holds "what answers browsers is no larger than 4 MB more after hostile requests" test "$after" -lt $((before + 4096))
ends "a second server at the same port says so" 1 'cannot listen at http://127.0.0.1.*in use' "${as_nobody[@]}" "$program" report --serve "127.0.0.1:$port"
kill -KILL "$page_process"
wait $server
is "a server whose process is killed ends with status 1" "$? $(grep -c 'has ended' "$scratch/err")" "1 1"

serve "$scratch/err" --serve 127.0.0.1:0 --token
like "the URL of a page that is served with --token has a token" "$url" '/\?token=[0-9a-f]{32}$'
checks "$port" "${url##*=}"
page_process=$(pgrep -P "$server" -x tactus-page)
kill -INT $server
wait $server
is "Ctrl-C ends a server with status 0" $? 0
is "the process that answers browsers ends with its server" "${page_process:+known} $(cat "/proc/$page_process/comm" 2>/dev/null)" "known "
if [ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null; then
	: >"$scratch/err"
	unshare -n sh -c 'ip link set lo up 2>/dev/null; exec "$@"' sh "${as_nobody[@]}" "$program" report --serve 0.0.0.0:0 -d 0.5 >/dev/null 2>"$scratch/err"
	like "an address that others reach asks for a token without being told to" "$(cat "$scratch/err")" 'the page is at http://0\.0\.0\.0:[0-9]+/\?token=[0-9a-f]{32}'
fi
kill $feed
done_testing
