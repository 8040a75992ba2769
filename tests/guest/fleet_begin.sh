#!/usr/bin/env bash
# What docs/fleet.md says under "Begin", typed as it stands there, where systemd is the first process, in a container whose files are thrown away: one machine; many machines, of
# which there is one; and a real Prometheus that gathers from it. Usage: fleet_begin.sh PACKAGE
# ssh is a double that runs the command here. Sensors are left out, which take time to load, and nothing acts.
. tests/tap.sh

if ! command -v prometheus >/dev/null; then
	skip "the page's first steps work as they stand there" "prometheus is not installed"
	done_testing
fi
package=$1 here=$(pwd -P)
trap 'kill "${gatherer:-$$}" 2>/dev/null; rm -rf "$scratch"' EXIT
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$scratch/ssh"
chmod +x "$scratch/ssh"
export SSH=$scratch/ssh
# typed NUMBER: that block of the page, in a clone's folder
mkdir -p "$scratch/clone/build/packages"
ln -s "$here/deploy" "$scratch/clone/deploy"
cp "$package" "$scratch/clone/build/packages"
echo this-machine >"$scratch/clone/hosts"
echo 127.0.0.1 this-machine >>/etc/hosts
typed() {
	{
		# shellcheck disable=SC2016
		echo 'systemctl() { [ "$*" = "reload prometheus" ] || command systemctl "$@"; }'
		sed -n '/^## Begin/,/^## Figures/p' "$here/docs/fleet.md" | awk -v wanted="$1" '/^```/ { block++; next } block == 2 * wanted - 1' |
			sed "s/'\[options run\]' 'metrics/'[options run]' 'actuator = none' 'without = all' 'metrics/"
	} >"$scratch/typed-$1"
	(cd "$scratch/clone" && bash -e "$scratch/typed-$1") >"$scratch/said" 2>&1
}
ip link set lo up 2>/dev/null
holds "the package installs" dpkg --force-unsafe-io -i "$package"
printf '%s\n' '[options run]' 'actuator = none' 'without = all' >>/etc/tactus.conf
typed 1
is "one machine serves figures as the page has it" "$? $(tail -n 1 "$scratch/said")" "0 tactus_run_up 1"
typed 1
is "what the page has for one machine may be typed twice" "$? $(tail -n 1 "$scratch/said")" "0 tactus_run_up 1"
typed 2
is "many machines are installed as the page has it" "$? $(grep -c '^this-machine: tactus [0-9].*acts by none' "$scratch/said")" "0 1"
[ "$(grep -c '^this-machine: tactus' "$scratch/said")" = 1 ] || sed 's/^/# /' "$scratch/said"
is "the key and the token are for root alone" "$(stat -c '%a %U' /etc/tactus/key.pem /etc/tactus/token | tr '\n' ' ')" "600 root 600 root "
typed 2
is "what the page has for many machines may be typed twice" "$? $(grep -c '^this-machine: tactus' "$scratch/said")" "0 1"
typed 3
is "Prometheus has its files as the page has it, and they are sound" "$? $(grep -c SUCCESS "$scratch/said")" "0 4"
sed -i 's/15s/1s/' /etc/prometheus/prometheus.yml
mkdir "$scratch/tsdb"
chown prometheus "$scratch/tsdb"
chmod 711 "$scratch"
setpriv --reuid prometheus --regid prometheus --clear-groups prometheus --config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path="$scratch/tsdb" --web.listen-address=127.0.0.1:9099 >"$scratch/prometheus" 2>&1 &
gatherer=$!
# gathered: of each machine whether it was scraped
gathered() { curl -s --max-time 20 -G http://127.0.0.1:9099/api/v1/query --data-urlencode "query=$1" | json '[(s["metric"]["instance"], s["value"][1]) for s in d["data"]["result"]]' 2>/dev/null; }
for _ in $(seq 600); do
	[ "$(gathered 'tactus_run_up')" != "[('this-machine:9783', '1')]" ] || break
	sleep 0.2
done
is "Prometheus, which is not root, gathers from the machine with the page's token and certificate" "$(gathered tactus_run_up)" "[('this-machine:9783', '1')]"
is "the machine is asked by TLS with its token" "$(gathered up)" "[('this-machine:9783', '1')]"
[ "$failures" = 0 ] || tail -n 5 "$scratch/prometheus" | sed 's/^/# /'
dpkg -P tactus >"$scratch/purged" 2>&1
is "a purge leaves what was written for figures, and nothing of it runs" "$? $(pgrep -x tactus) $(ls /etc/tactus)" "0  cert.pem
key.pem
token"
rm -r /etc/tactus /etc/systemd/system/tactus.service.d
systemctl daemon-reload
done_testing
