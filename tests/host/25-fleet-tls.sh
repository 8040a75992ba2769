#!/usr/bin/env bash
# 'tactus fleet' asks a real Prometheus behind a real nginx that has TLS and wants a token, by its name, which a name server tells, and by its address; and nobody
# who is not who he says. And one that knows nothing, that is elsewhere on its host, and that is not there.
. tests/tap.sh
. tests/metrics.sh

for program in prometheus nginx openssl ip getent; do
	command -v $program >/dev/null && continue
	skip "fleet asks by TLS and with a token" "$program is not installed"
	done_testing
done
space=tactus-tls$$ pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; ip netns delete $space 2>/dev/null; rm -rf "$scratch" "/etc/netns/$space"' EXIT
if ! ip netns add $space 2>"$scratch/err" || ! ip -n $space link set lo up; then
	skip "fleet asks by TLS and with a token" "there are no network namespaces: $(cat "$scratch/err")"
	done_testing
fi
# What the machine's resolver asks there.
mkdir -p "/etc/netns/$space"
echo 'nameserver 127.0.0.1' >"/etc/netns/$space/resolv.conf"
echo 'hosts: files dns' >"/etc/netns/$space/nsswitch.conf"
in_space=(ip netns exec "$space")
cat >"$scratch/names.py" <<'PYTHON'
# Every name of .fleet is this machine.
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    question, who = server.recvfrom(512)
    end = question.index(b"\0", 12) + 5
    known = question[12:end].lower().endswith(b"\x05fleet\0" + question[end - 4:end])
    has = known and question[end - 4:end - 2] == b"\0\1"
    head = question[:2] + (b"\x81\x80" if known else b"\x81\x83") + b"\0\1" + (b"\0\1" if has else b"\0\0") + b"\0\0\0\0"
    server.sendto(head + question[12:end] + (b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if has else b""), who)
PYTHON
"${in_space[@]}" python3 "$scratch/names.py" >"$scratch/names" 2>&1 &
pids+=($!)
token=$(head -c 24 /dev/urandom | base64 | tr -d '\n')
printf '%s\n' "$token" >"$scratch/token"
head -c 24 /dev/urandom | base64 >"$scratch/other-token"
# An authority of its own, which signs what the server has.
(
	cd "$scratch" || exit
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=an authority' -keyout ca-key.pem -out ca.pem
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=a server' -keyout server-key.pem -out server.csr
	printf 'subjectAltName=DNS:prometheus.fleet,IP:127.0.0.1\n' >names.ext
	openssl x509 -req -in server.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile names.ext -out server.pem
) 2>"$scratch/openssl-err"
make_certificate 127.0.0.1
cat >"$scratch/nginx.conf" <<END
daemon off;
error_log $scratch/nginx-err info;
pid $scratch/nginx-pid;
events {}
http {
	access_log off;
	client_body_temp_path $scratch/t1; proxy_temp_path $scratch/t2; fastcgi_temp_path $scratch/t3; uwsgi_temp_path $scratch/t4; scgi_temp_path $scratch/t5;
	server {
		listen 127.0.0.1:9443 ssl;
		ssl_certificate $scratch/server.pem;
		ssl_certificate_key $scratch/server-key.pem;
		if (\$http_authorization != "Bearer $token") { return 401; }
		location / { proxy_pass http://127.0.0.1:9090; }
	}
}
END
echo 'global: {scrape_interval: 15s}' >"$scratch/prometheus.yml"
"${in_space[@]}" prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" --web.listen-address=127.0.0.1:9090 >"$scratch/prometheus.log" 2>&1 &
pids+=($!)
"${in_space[@]}" nginx -c "$scratch/nginx.conf" >"$scratch/nginx.log" 2>&1 &
pids+=($!)
wait_for "$scratch/prometheus.log" 'Server is ready to receive web requests|level=error'
wait_for "$scratch/names" ready
for _ in $(seq 300); do [ ! -s "$scratch/nginx-pid" ] || break; sleep 0.1; done
fleet() { "${in_space[@]}" "$tactus" fleet --job a-job "$@"; }
asks=(--token-file "$scratch/token" --ca-file "$scratch/ca.pem")
# Prometheus knows of no such job, which it alone can say.
known='nothing is known of steps of job a-job'
ends "fleet asks a Prometheus by TLS, with a token and a name that a name server knows" 1 "$known" fleet --prometheus https://prometheus.fleet:9443 "${asks[@]}"
ends "fleet asks a Prometheus by TLS by its address, which its certificate has" 1 "$known" fleet --prometheus https://127.0.0.1:9443 "${asks[@]}"
ends "fleet asks a Prometheus in plain text by a name that a name server knows" 1 "$known" fleet --prometheus http://other.fleet:9090
ends "fleet says of a Prometheus that no job is known to what is to be done" 1 "$known, nor of another: are its machines scraped, and does .* have --cuda there" fleet --prometheus http://127.0.0.1:9090
ends "fleet says of a Prometheus that is not there that it is not" 1 '^tactus: fleet: http://127.0.0.1:9099: Connection refused$' fleet --prometheus http://127.0.0.1:9099
ends "fleet says of a path at which there is no Prometheus what it is answered, and where" 1 'fleet: http://127.0.0.1:9090/nothing/here: status 404: what it answers is not as Prometheus does' fleet --prometheus http://127.0.0.1:9090/nothing/here/
ends "fleet without the token is told so by its status" 1 'https://prometheus.fleet:9443: status 401' fleet --prometheus https://prometheus.fleet:9443 --ca-file "$scratch/ca.pem"
ends "fleet with another token is told so by its status" 1 'status 401' fleet --prometheus https://prometheus.fleet:9443 --ca-file "$scratch/ca.pem" --token-file "$scratch/other-token"
ends "fleet does not ask a server that another authority vouches for" 1 'not correctly signed by the trusted CA' fleet --prometheus https://prometheus.fleet:9443 --token-file "$scratch/token" --ca-file "$scratch/cert.pem"
ends "fleet does not ask a server by a name that its certificate does not have" 1 'does not match with the expected CN' fleet --prometheus https://other.fleet:9443 "${asks[@]}"
ends "fleet says of a server without TLS that it has none" 1 'https://127.0.0.1:9090: it speaks no TLS' fleet --prometheus https://127.0.0.1:9090 "${asks[@]}"
ends "fleet says of a name that nobody knows that it is not found" 1 "no address of 'prometheus.nowhere' is found" fleet --prometheus https://prometheus.nowhere:9443 "${asks[@]}"
ends "fleet sends no token in plain text to another machine" 1 'others could read the token' fleet --prometheus http://192.0.2.1:9090 --token-file "$scratch/token"
ends "a file of authorities that has none is named" 1 'token: has no certificate in PEM' fleet --prometheus https://127.0.0.1:9443 --ca-file "$scratch/token"
done_testing
