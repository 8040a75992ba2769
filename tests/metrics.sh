# What tests of figures for Prometheus share. Source it after tap.sh.
# shellcheck shell=bash disable=SC2154,SC2034

has_parser() { python3 -c 'import sys; sys.path.append("/usr/lib/python3/dist-packages"); import prometheus_client' 2>/dev/null; }
# serve ERR COMMAND...: starts it and waits until it says where; $server, $url and $port are it
serve() {
	local err=$1
	shift
	: >"$err"
	"$@" >"$scratch/served-out" 2>"$err" &
	server=$!
	wait_for "$err" 'figures are at https?://|^tactus: (serve|run): ' 1200
	url=$(sed -n 's/^tactus: figures are at //p' "$err" | head -n 1)
	port=$(printf '%s' "$url" | sed -n 's|^https*://[^/]*:\([0-9]*\)/.*|\1|p')
}
# make_certificate ADDRESS...: $scratch/cert.pem and $scratch/key.pem, signed by itself, as docs/fleet.md says
make_certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=tactus" -addext "subjectAltName=$(printf 'IP:%s,' "$@" | sed 's/,$//')" \
		-keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>"$scratch/openssl-err"
}
# scrape FILE: in OpenMetrics
scrape() { curl -sS --max-time 60 -H 'Accept: application/openmetrics-text' "$url" >"$1"; }
# of FILE EXPRESSION: see tests/metrics_read.py
of() { python3 tests/metrics_read.py "$1" "$2"; }
# checks_of FILE: results in lines of name, got and wanted
checks_of() {
	while IFS=$'\t' read -r name got want; do
		case $name in
		'#'*) printf '%s\n' "$name" ;;
		*) is "$name" "$got" "$want" ;;
		esac
	done <"$1"
}
