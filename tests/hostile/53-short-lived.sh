#!/usr/bin/env bash
# Tens of thousands of threads that come and go: views that print as they go forget them, and need no more memory than at the start.
. tests/tap.sh

count=${COUNT:-60000}
grown() { # prints the view's growth in KB from a third as many threads to all of them
	local name=$1 view begin end
	: >"$scratch/err"
	shift
	"$tactus" "$@" >/dev/null 2>"$scratch/err" &
	view=$!
	wait_for "$scratch/err" watching
	build/workloads/short_lived $((count / 3)) >/dev/null
	sleep 0.5
	begin=$(awk '/^RssAnon/ { print $2 }' "/proc/$view/status")
	build/workloads/short_lived "$count" >"$scratch/lived"
	sleep 0.5
	end=$(awk '/^RssAnon/ { print $2 }' "/proc/$view/status")
	kill -INT $view
	wait $view
	is "$name beside short-lived threads ends with status 0" $? 0
	say_measured "$name: $(cat "$scratch/lived"); $begin KB resident after a third as many, $end KB after all"
	holds "$name grows by less than 4 MB for $count threads that ended" test $((end - begin)) -lt 4096
}
grown events events
grown "roles --follow" roles --follow --without launch,gpu,wine,input,frame,socket,sound,names
done_testing
