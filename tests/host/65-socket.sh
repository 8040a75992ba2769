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

# role_of TID: "role evidence" of a thread in the rows of $way
role_of() { json "([r['role'] + ' ' + r['evidence_kind'] for r in rows if r['tid'] == $1] + ['no row'])[0]" <"$scratch/rows-$way"; }
# roles_of PID: of all its threads but the first
roles_of() { json "[r['role'] + ' ' + r['evidence_kind'] for r in rows if r['pid'] == $1 and r['tid'] != $1]" <"$scratch/rows-$way"; }

# All of them run from here on, and are watched in several ways.
/usr/sbin/nginx -p "$scratch" -c "$scratch/nginx.conf" -g 'daemon off;' 2>/dev/null &
nginx=$!
sh -c 'while :; do :; done' &
hog=$!
sleep 1000 &
sleeper=$!
python3 "$scratch/looks.py" &
looks=$!
running=("$nginx" "$hog" "$sleeper" "$looks")
trap 'kill "${running[@]}" 2>/dev/null; wait; rm -rf "$scratch"' EXIT
wait_for "$scratch/nginx.pid" .
for _ in $(seq 300); do
	worker=$(pgrep -P $nginx) && break
	sleep 0.1
done
# serve NAME ADDRESS: wrk loads the server; its pid is $wrk
serve() {
	wrk -t1 -c4 -d900s "http://$2:$port/" >"$scratch/wrk-$1" &
	wrk=$!
	running+=("$wrk")
}
serve IPv4 127.0.0.1
four=$wrk six=
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	serve IPv6 '[::1]'
	six=$wrk
fi

# watch WAY [OPTION...]: in the background, for some seconds
watch() { timeout 200 "$tactus" roles --json -n all -d "$seconds" "${@:2}" >"$scratch/rows-$1" 2>"$scratch/err-$1" & }
# check WAY STATUS: what must come out
check() {
	way=$1
	is "$way: tactus roles ends well" "$2" 0
	say_measured "$way: nginx $(json "[r['evidence'] for r in rows if r['tid'] == $worker][0]" <"$scratch/rows-$way")"
	is "$way: nginx's worker is for the network" "$(role_of "$worker")" "network io"
	is "$way: wrk's thread is for the network by IPv4" "$(roles_of $four)" "['network io']"
	[ -z "$six" ] || is "$way: wrk's thread is for the network by IPv6" "$(roles_of "$six")" "['network io']"
	is "$way: a hog is bound to the CPU" "$(role_of $hog)" "cpu-bound runtime"
	is "$way: a look into an empty socket is no receive" \
		"$(json "[r['net_wakes'] for r in rows if r['tid'] == $looks]" <"$scratch/rows-$way")" "[0]"
	is "$way: none of those that serve no socket is for the network" \
		"$(json "[r for r in rows if r['role'] == 'network' and r['pid'] in ($hog, $sleeper, $looks, $nginx)]" <"$scratch/rows-$way")" "[]"
}

# hook: which one the sensor has here. The load stands still meanwhile: it would take the CPUs for nothing.
load() { kill "-$1" "$hog" "$four" $six; }
hook() {
	load STOP
	"$tactus" doctor --json | json "[s['hook'] for s in d['sensors'] if s['name'] == 'socket'][0]"
	load CONT
}

best=$(hook)
say_measured "the socket sensor's hook here: $best"
watch open
open=$!
watch hidden --without names,launch
hidden=$!
watch without --without socket
without=$!
wait $open
check open $?
wait $hidden
check hidden $?
wait $without
is "roles are told without the socket sensor" $? 0
is "nobody is for the network without the socket sensor" "$(json "sum(r['evidence_kind'] == 'io' and r['role'] == 'network' for r in rows)" <"$scratch/rows-without")" 0
[ -n "$six" ] || skip "wrk's thread is for the network by IPv6" "this kernel has no IPv6"

# Each worse hook in turn, as far as this kernel has it.
skipped=
while [ "$best" != none ]; do
	skipped=${skipped:+$skipped,}socket:${best%%/*}
	export TACTUS_SKIP_HOOKS=$skipped
	best=$(hook)
	if [ "$best" = none ]; then
		like "the socket sensor is off without $skipped and says why" "$("$tactus" doctor | grep '^socket:')" 'switched off'
	else
		watch worse
		wait $!
		check worse $?
	fi
done
unset TACTUS_SKIP_HOOKS
kill -INT "$four" $six
wait $four $six
say_measured "requests a second by IPv4 and IPv6: $(sed -n 's|Requests/sec: *||p' "$scratch"/wrk-* | xargs)"
done_testing
