#!/usr/bin/env bash
# A library that is touched, over and over, keeps the probes that it has: no call counts twice, none is missed.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh

chmod 755 "$scratch"
mkdir "$scratch/his"
cp build/workloads/libcuda.so.1 build/workloads/cuda_calls "$scratch/his/"
chown -R 65534:65534 "$scratch/his"
mkfifo "$scratch/go"
chmod 666 "$scratch/go"
# One maps it before it is touched and goes on after; others come and go.
cat >"$scratch/touches.sh" <<'END'
cd "$1" || exit
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# How many of the kernel's objects, among them probes, tactus has once it is done with what it was just told of: the same number for a second, within fifteen.
descriptors() {
	local now last='' same=0 left=150
	while [ $same -lt 10 ] && [ $((left -= 1)) -gt 0 ]; do
		now=$(find "/proc/$PPID/fd" -lname 'anon_inode:*' 2>/dev/null | wc -l)
		if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0; fi
		last=$now
		sleep 0.1
	done
	echo "$now"
}
as_user his/cuda_calls "$1/his/libcuda.so.1" launches 500 loaded <go >held 2>&1 &
exec 3>go
until grep -q pid= held; do sleep 0.05; done
sleep 1
as_user his/cuda_calls "$1/his/libcuda.so.1" launches 100 >said 2>&1
descriptors >before
i=0
while [ $((i += 1)) -le 20 ]; do
	as_user touch his/libcuda.so.1
	as_user his/cuda_calls "$1/his/libcuda.so.1" launches 10 >said 2>&1
	sleep 0.12
done
sleep 1.2
as_user his/cuda_calls "$1/his/libcuda.so.1" launches 200 >said 2>&1
descriptors >after
until [ -e measured ]; do sleep 0.1; done
echo go >&3
exec 3>&-
wait
END
"$tactus" cuda --json --no-detour -- bash "$scratch/touches.sh" "$scratch" >"$scratch/all" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/before" '^[0-9]'
cost_before=$(cost $watcher)
wait_for "$scratch/after" '^[0-9]'
costs_as_before "cuda beside a library that is touched" $watcher "$cost_before"
touch "$scratch/measured"
wait $watcher
is "watching a library that is touched ends well" $? 0
counted=$(grep '^{' "$scratch/all" | json 'sum(r["calls"] for r in rows if r.get("function") == "cuLaunchKernel")')
is "launches through a library that was touched 20 times count once each" "$counted" $((500 + 100 + 20 * 10 + 200))
is "a touched library takes no more descriptors" "$(cat "$scratch/after")" "$(cat "$scratch/before")"
say_measured "1000 launches, $counted counted; $(cat "$scratch/before") descriptors before and $(cat "$scratch/after") after 20 touches"
done_testing
