#!/usr/bin/env bash
# Threads that serve sockets are known as such by what they do: nginx under load by wrk, over IPv4 and IPv6; others beside
# them are not. Runs on any kernel: the host's and each VM's; with each hook in turn where the kernel has it.
. tests/tap.sh

seconds=3
[ -z "${TACTUS_VM:-}" ] || seconds=6
ip link set lo up 2>/dev/null
port=$((20000 + $$ % 20000))
cat >"$scratch/nginx.conf" <<END
worker_processes 1;
pid $scratch/nginx.pid;
error_log $scratch/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path $scratch/body; proxy_temp_path $scratch/proxy; fastcgi_temp_path $scratch/fastcgi;
	uwsgi_temp_path $scratch/uwsgi; scgi_temp_path $scratch/scgi;
	server { listen 127.0.0.1:$port; listen [::1]:$port; location / { return 200 "hello\n"; } }
}
END
# A look into a socket that has nothing to receive is no receive.
cat >"$scratch/looks.py" <<'END'
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
s.setblocking(False)
while True:
    try:
        s.recv(10)
    except BlockingIOError:
        pass
    time.sleep(0.002)
END

# role_of TID: "role evidence" of a thread in the last run's rows
role_of() { json "[r['role'] + ' ' + r['evidence_kind'] for r in rows if r['tid'] == $1][0]" <"$scratch/rows"; }

# watch WHAT ADDRESS [OPTION...]: all of them once, and what must come out
watch() {
	local what=$1 address=$2 nginx hog sleeper looks wrk worker
	shift 2
	rm -f "$scratch/nginx.pid"
	/usr/sbin/nginx -p "$scratch" -c "$scratch/nginx.conf" -g 'daemon off;' 2>/dev/null &
	nginx=$!
	sh -c 'while :; do :; done' &
	hog=$!
	sleep 1000 &
	sleeper=$!
	python3 "$scratch/looks.py" &
	looks=$!
	wait_for "$scratch/nginx.pid" .
	sleep 0.2
	worker=$(pgrep -P $nginx)
	wrk -t2 -c8 -d900s "http://$address:$port/" >"$scratch/wrk" &
	wrk=$!
	timeout 200 "$tactus" roles --json -n all -d "$seconds" "$@" >"$scratch/rows" 2>"$scratch/err"
	is "$what: tactus roles ends well" $? 0
	kill -INT $wrk
	wait $wrk
	say_measured "$what: $(grep Requests/sec "$scratch/wrk"); nginx $(json "[r['evidence'] for r in rows if r['tid'] == $worker][0]" <"$scratch/rows")"
	is "$what: nginx's worker is for the network" "$(role_of "$worker")" "network io"
	is "$what: and so are wrk's two threads" \
		"$(json "[r['role'] + ' ' + r['evidence_kind'] for r in rows if r['pid'] == $wrk and r['tid'] != $wrk]" <"$scratch/rows")" \
		"['network io', 'network io']"
	is "$what: a hog is not" "$(role_of $hog)" "cpu-bound runtime"
	is "$what: a look into an empty socket is no receive" \
		"$(json "[r['net_wakes'] for r in rows if r['tid'] == $looks]" <"$scratch/rows")" "[0]"
	is "$what: none of those that serve no socket is for the network" \
		"$(json "[r for r in rows if r['role'] == 'network' and r['pid'] in ($hog, $sleeper, $looks, $nginx)]" <"$scratch/rows")" "[]"
	kill $hog $sleeper $looks $nginx
	wait $hog $sleeper $looks $nginx 2>/dev/null
}

# hook: which one the sensor has here
hook() { "$tactus" doctor --json | json "[s['hook'] for s in d['sensors'] if s['name'] == 'socket'][0]"; }

best=$(hook)
say_measured "the socket sensor's hook here: $best"
watch "IPv4" 127.0.0.1
watch "names hidden" 127.0.0.1 --without names,launch
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	watch "IPv6" '[::1]'
else
	skip "IPv6" "this kernel has none"
fi

# Each worse hook in turn, as far as this kernel has it.
skipped=
while [ "$best" != none ]; do
	skipped=${skipped:+$skipped,}socket:${best%%/*}
	export TACTUS_SKIP_HOOKS=$skipped
	best=$(hook)
	if [ "$best" = none ]; then
		like "without $skipped the sensor is off and says why" "$("$tactus" doctor | grep '^socket:')" 'switched off'
	else
		watch "by $best" 127.0.0.1
	fi
done
unset TACTUS_SKIP_HOOKS

timeout 60 "$tactus" roles --json -n all -d 0.2 --without socket >"$scratch/rows" 2>"$scratch/err"
is "without the sensor roles are told all the same" $? 0
is "and nobody is for the network" "$(json "sum(r['evidence_kind'] == 'io' and r['role'] == 'network' for r in rows)" <"$scratch/rows")" 0
done_testing
