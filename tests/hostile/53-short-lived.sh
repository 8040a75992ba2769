#!/usr/bin/env bash
# Fifty thousand threads that come and go: views that print as they go forget them, and need no more memory than at the start.
. tests/tap.sh

count=${COUNT:-50000}
grown() { # prints the view's growth in KB from the first tenth of the threads to the last of them
	local name=$1 view begin end
	: >"$scratch/err"
	shift
	"$tactus" "$@" -d 60 >/dev/null 2>"$scratch/err" &
	view=$!
	for ((i = 0; i < 300; i++)); do
		! grep -q 'watching' "$scratch/err" || break
		sleep 0.1
	done
	build/workloads/short_lived $((count / 5)) >/dev/null
	sleep 0.5
	begin=$(awk '/^RssAnon/ { print $2 }' "/proc/$view/status")
	build/workloads/short_lived "$count" >"$scratch/lived"
	sleep 0.5
	end=$(awk '/^RssAnon/ { print $2 }' "/proc/$view/status")
	kill -INT $view
	wait $view
	is "$name beside short-lived threads ends with status 0" $? 0
	say_measured "$name: $(cat "$scratch/lived"); $begin KB resident after a fifth of them, $end KB after all"
	holds "$name grows by less than 4 MB for $count threads that ended" test $((end - begin)) -lt 4096
}
grown events events
grown "roles --follow" roles --follow --without launch,gpu,wine,input,frame,socket,sound,names
done_testing
