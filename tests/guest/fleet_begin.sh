#!/usr/bin/env bash
# What docs/fleet.md says under "Begin" and "Events", typed as it stands there, where systemd is the first process, in a container whose files are thrown away: one machine; many
# machines, of which there is one; a real Prometheus that gathers from it; and what it recorded, fetched. Usage: fleet_begin.sh PACKAGE
# ssh is a double that runs the command here. Sensors are left out, which take time to load, and nothing acts.
. tests/tap.sh

if ! command -v prometheus >/dev/null; then
	skip "the page's first steps work as they stand there" "prometheus is not installed"
	done_testing
fi
package=$1 here=$(pwd -P)
gatherer=
trap '[ -z "$gatherer" ] || kill "$gatherer"; rm -rf "$scratch"' EXIT
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$scratch/ssh"
chmod +x "$scratch/ssh"
export SSH=$scratch/ssh
# typed SECTION NUMBER: that block of the page, in a clone's folder
mkdir -p "$scratch/clone/build/packages"
ln -s "$here/deploy" "$scratch/clone/deploy"
cp "$package" "$scratch/clone/build/packages"
echo this-machine >"$scratch/clone/hosts"
echo 127.0.0.1 this-machine >>/etc/hosts
typed() {
	{
		# shellcheck disable=SC2016
		echo 'systemctl() { [ "$*" = "reload prometheus" ] || command systemctl "$@"; }'
		awk -v section="## $1" -v wanted="$2" '/^## / { here = $0 == section } !here { next } /^```/ { block++; next } block == 2 * wanted - 1' "$here/docs/fleet.md" |
			sed "s/'\[options run\]' 'metrics/'[options run]' 'actuator = none' 'without = all' 'metrics/"
	} >"$scratch/typed"
	(cd "$scratch/clone" && bash -e "$scratch/typed") >"$scratch/said" 2>&1
}
ip link set lo up 2>/dev/null
holds "the package installs" dpkg --force-unsafe-io -i "$package"
printf '%s\n' '[options run]' 'actuator = none' 'without = all' >>/etc/tactus.conf
typed Begin 1
is "figures of one machine are served as the page has it" "$? $(tail -n 1 "$scratch/said")" "0 tactus_run_up 1"
typed Begin 1
is "what the page has for one machine may be typed twice" "$? $(tail -n 1 "$scratch/said")" "0 tactus_run_up 1"
typed Begin 2
is "many machines are installed as the page has it" "$? $(grep -c '^this-machine: tactus [0-9].*acts by none' "$scratch/said")" "0 1"
[ "$(grep -c '^this-machine: tactus' "$scratch/said")" = 1 ] || sed 's/^/# /' "$scratch/said"
is "the key and the token are for root alone" "$(stat -c '%a %U' /etc/tactus/key.pem /etc/tactus/token | tr '\n' ' ')" "600 root 600 root "
typed Begin 2
is "what the page has for many machines may be typed twice" "$? $(grep -c '^this-machine: tactus' "$scratch/said")" "0 1"
typed Begin 3
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

# Segments, of two seconds here and without sensors.
mkdir -p /etc/systemd/system/tactus-segments.service.d
printf '[Service]\nExecStart=\nExecStart=/usr/sbin/tactus record --segments 2s --to /var/lib/tactus/segments --keep-mb 100 --without all\n' >/etc/systemd/system/tactus-segments.service.d/quick.conf
typed Events 1
is "the service of segments comes to all machines as the page has it" "$? $(systemctl is-active tactus-segments)/$(systemctl is-enabled tactus-segments)" "0 active/enabled"
systemd-analyze security --no-pager --threshold=45 tactus-segments.service >"$scratch/security" 2>&1
is "systemd's count of what the sandbox of segments leaves open is 4.5 at most" $? 0
say_measured "$(tail -n 1 "$scratch/security")"
index=/var/lib/tactus/segments/index.jsonl
for _ in $(seq 600); do
	[ "$(wc -l <$index 2>/dev/null || echo 0)" -lt 3 ] || break
	sleep 0.2
done
systemctl stop tactus-segments
is "the service of segments ends well" "$(systemctl show -P Result tactus-segments)" success
say_measured "$(wc -l <$index) segments; $(journalctl -u tactus-segments -o cat | tr '\n' ';')"
is "what is recorded of a machine is for root alone" "$(stat -c '%a %U' /var/lib/tactus/segments/*.tactus | sort -u)" "600 root"
ends "fetch-segments of a time at which nothing was recorded says what there is" 1 '^this-machine: nothing of that time is there; it has 20[0-9-]+ [0-9:]+ to 20' deploy/fetch-segments.sh this-machine '2020-01-01' '2020-01-02' "$scratch/nothing"
ends "fetch-segments with a time that is none is bad usage" 2 "'soonish' is no time" deploy/fetch-segments.sh this-machine soonish now "$scratch/nothing"
ends "fetch-segments with times in the wrong order is bad usage" 2 "is after" deploy/fetch-segments.sh this-machine now '5 minutes ago' "$scratch/nothing"
ends "fetch-segments of a host that leads to another folder is bad usage" 2 'is no name of a host' deploy/fetch-segments.sh ../x now now "$scratch/nothing"
ends "fetch-segments without a folder is bad usage" 2 'usage:' deploy/fetch-segments.sh this-machine now now
from_ns=$(json 'rows[1]["from_wall_ns"] + 1000' <$index) second=$(json 'rows[1]["file"]' <$index)
deploy/fetch-segments.sh this-machine "@$((from_ns / 1000000000 + 1))" "@$((from_ns / 1000000000 + 1))" "$scratch/one" >"$scratch/fetched" 2>&1
is "fetch-segments brings the segment of a time, and none but that" "$? $(cat "$scratch/fetched") $(cmp "$scratch/one/this-machine/$second" "/var/lib/tactus/segments/$second")" "0 $scratch/one/this-machine/$second "
printf '{"file":"../../x.tactus","from_wall_ns":1795135999244283297,"to_wall_ns":1795135999244283297}\n{"file":"-x.tactus","from_wall_ns":1795135999244283297,"to_wall_ns":1795135999244283297}\n' >"$scratch/evil"
cp $index "$scratch/index" && cp "$scratch/evil" $index
ends "fetch-segments takes no names from a host that lead elsewhere" 1 'nothing of that time is there; it has nothing' deploy/fetch-segments.sh this-machine 2020-01-01 2030-01-01 "$scratch/evil-folder"
cp "$scratch/index" $index
typed Events 2
is "segments of a time are fetched, read and made tables of as the page has it" "$? $(find "$scratch/clone/incident/this-machine" -name '*.tactus' | wc -l) $(find "$scratch/clone/incident/tables" -name '*.parquet' | wc -l)" "0 $(wc -l <$index) $(wc -l <$index)"
dpkg -P tactus >"$scratch/purged" 2>&1
is "a purge leaves what was written for figures, and nothing of it runs" "$? $(pgrep -x tactus) $(ls /etc/tactus)" "0  cert.pem
key.pem
token"
rm -r /etc/tactus /etc/systemd/system/tactus.service.d /etc/systemd/system/tactus-segments.service* /etc/systemd/system/multi-user.target.wants/tactus-segments.service
systemctl daemon-reload
done_testing
