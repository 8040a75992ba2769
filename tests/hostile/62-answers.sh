#!/usr/bin/env bash
# Servers that are asked by tactus and mean harm: a Prometheus that answers 'tactus fleet' with escape sequences, numbers that are none, nesting
# without end and bytes without end; and what takes OTLP and answers with the same. Both are strangers' programs.
. tests/tap.sh

pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
cat >"$scratch/server.py" <<'END'
import json, socket, sys, threading, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
def sample(host, rank, part, value):
    return {"metric": {"instance": host, "rank": rank, "part": part}, "value": [1, value]}
def vector(*samples):
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": list(samples)}}).encode()
def body(what):
    if what == "escapes":
        ranks = [sample(f"h{i}\x1b]0;x\x07\u202e\u200b", str(i), part, "90" if part == "all" or i != 2 else "1") for i in range(4) for part in ("all", "collective", "data")]
        return vector(*ranks, sample("x", "\x1b[2J", "all", "9"), sample("x", "\u202e1", "all", "9"))
    if what == "numbers":
        return vector(*(sample("h", str(i), part, value) for i, value in enumerate(("1e308", "Inf", "-Inf", "NaN", "0x1p1000", "9e17", "1e14", "1e-320", "x")) for part in ("all", "collective", "data")))
    if what == "deep":
        return b'{"status":"success","data":' + b"[" * 2000000
    if what == "jobs":
        return vector(*({"metric": {"training_job": f"\x1b[2J\u202ejob{i}"}, "value": [1, "1"]} for i in range(30)))
    if what == "error":
        return b'{"status":"error","error":"\\u001b[2J\\u202esorry"}'
    return {"wrong": b'{"status":1,"data":{"result":[[],{"metric":[],"value":{}},7,null,"x"]}}', "none": b""}.get(what, b"{}")
def serve(connection):
    try:
        heard = connection.recv(65536)
        what = heard.split(b" ")[1].decode().split("/")[1]
        if what == "endless":
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n{")
            while True: connection.sendall(b" " * 65536)
        if what == "drip":
            for byte in b"HTTP/1.0 200 OK\r\n\r\n{" + b" " * 10000:
                connection.sendall(bytes([byte]))
                time.sleep(0.5)
        if what == "silent": time.sleep(600)
        if what == "rubbish": connection.sendall(b"\x16\x03\x01" * 1000)
        else: connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body(what))
        connection.close()
    except OSError:
        pass
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
END
python3 "$scratch/server.py" >"$scratch/port" 2>"$scratch/server-err" &
pids+=($!)
wait_for "$scratch/port" '^[0-9]+$'
port=$(cat "$scratch/port")
# asked WHAT: out, err and the status; 400 MB of addresses are what it may have
asked() {
	(ulimit -v 400000; timeout 100 "$tactus" fleet --prometheus "http://127.0.0.1:$port/$1" --job 7 "${@:2}") >"$scratch/out" 2>"$scratch/err" </dev/null
	echo $?
}
is_plain() { ! LC_ALL=C grep -qP '[^\n\t -~]' "$1"; }
is "fleet is answered by a server with escape sequences in names" "$(asked escapes)" 0
holds "what a server has in names comes to the terminal as plain text" is_plain "$scratch/out"
holds "what a server has in names comes to messages as plain text" is_plain "$scratch/err"
like "a server's ranks that are no numbers are left out and counted" "$(cat "$scratch/err")" '[0-9]+ figures had no room'
is "fleet --json of a server with escape sequences in names is JSON" "$(asked escapes --json) $(json 'len(rows) > 0' <"$scratch/out")" "0 True"
status=$(asked numbers)
holds "numbers that are none, or too large, end fleet as others do" test "$status" -le 1
holds "numbers that are none, or too large, come out as text" is_plain "$scratch/out"
for what in deep wrong none rubbish error; do
	is "fleet refuses a server's answer with status 1: $what" "$(asked $what) $(wc -l <"$scratch/err") $(is_plain "$scratch/err" && echo plain)" "1 1 plain"
done
is "fleet names some of a server's jobs and counts the others, as plain text" "$(asked jobs) $(grep -c 'known jobs: .*job0, .* and 22 more$' "$scratch/err") $(is_plain "$scratch/err" && echo plain)" "1 1 plain"
is "a server that answers without end is left at a bound" "$(asked endless) $(grep -c 'too large' "$scratch/err")" "1 1"
began=$SECONDS
status=$(asked drip)
say_measured "a server that answers a byte at a time is left after $((SECONDS - began)) s"
is "a server that answers a byte at a time is left" "$status $(grep -c 'timed out' "$scratch/err")" "1 1"

if [ "$(id -u)" != 0 ]; then
	skip "figures that are sent to a server that means harm" "only root watches threads"
	done_testing
fi
for what in endless silent rubbish; do
	: >"$scratch/err"
	"$tactus" serve --otlp "http://127.0.0.1:$port/$what" --every 1s --without launch,gpu,wine,input,frame,socket,sound,names,learned >"$scratch/out" 2>"$scratch/err" &
	server=$!
	pids+=("$server")
	wait_for "$scratch/err" 'figures are sent to'
	cost_before=$(cost $server)
	for _ in $(seq 100); do
		sender=$(pgrep -P $server tactus-otlp) && grep -q '^Seccomp:.2' "/proc/$sender/status" && break
		sleep 0.1
	done
	if [ $what = endless ]; then
		wait_for "$scratch/err" 'figures could not be sent'
		holds "who sends figures is another user than root" test "$(awk '/^Uid/ { print $2 }' "/proc/$sender/status")" != 0
		is "who sends figures has no capability and a filter on its calls" "$(awk '/^Cap(Prm|Eff|Bnd)|^Seccomp:/ { print $2 }' "/proc/$sender/status" | sort -u | tr '\n' ' ')" "0000000000000000 2 "
		holds "who sends figures has less than 100 MB beside a server that answers without end" test "$(awk '/^RssAnon/ { print $2 }' "/proc/$sender/status")" -lt 102400
	fi
	costs_as_before "serve beside a server that takes figures badly: $what" $server "$cost_before"
	kill -INT $server
	wait $server
	is "serve ends with status 0 beside a server that takes figures badly: $what" "$? $(is_plain "$scratch/err" && echo plain)" "0 plain"
done
done_testing
