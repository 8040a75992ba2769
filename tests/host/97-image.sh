#!/usr/bin/env bash
# The container image and the files for Kubernetes: every digest is right, the same bytes come each time, and the image runs as the DaemonSet of
# deploy/kubernetes says: its mounts, its capabilities, a root that can't be written, its limit of memory, its probes.
# not beside: packages, which are built from the same files
. tests/tap.sh
. tests/metrics.sh

out=$scratch/image
pod=
# shellcheck disable=SC2317
cleanup() {
	[ -z "$pod" ] || kill -KILL "$pod" 2>/dev/null
	wait
	[ -z "${group:-}" ] || rmdir "$group" 2>/dev/null
	rm -rf "$scratch"
}
trap cleanup EXIT
holds "make image makes an image without a builder" packaging/image.sh "$out"
packaging/image.sh "$scratch/again" >/dev/null
image=$(echo "$out"/tactus-*-image.tar)
is "the image has the same bytes when it is made again" "$(sha256sum <"$image")" "$(sha256sum <"$(echo "$scratch"/again/*.tar)")"
say_measured "the image takes $(stat -c %s "$image") bytes"
mkdir "$scratch/unpacked"
# shellcheck disable=SC2016
holds "the image can be read" bash -c 'tests/image_check.py "$1" "$2" >"$2/checks"' - "$image" "$scratch/unpacked"
checks_of "$scratch/unpacked/checks"
like "the image's program runs with nothing but the image" "$(chroot "$scratch/unpacked/root" /usr/sbin/tactus version)" '^tactus [0-9]'
if command -v skopeo >/dev/null; then
	holds "skopeo copies the image" skopeo --insecure-policy copy -q "oci-archive:$image" "oci:$scratch/copied:x"
else
	skip "skopeo copies the image" "skopeo is not installed"
fi
manifest=deploy/kubernetes/daemonset.yaml
version=$(sed -n 's/^VERSION := //p' Makefile)
if command -v kubectl >/dev/null; then
	kubectl kustomize deploy/kubernetes >"$scratch/whole.yaml" 2>"$scratch/err"
	is "kustomize puts the files for Kubernetes together" "$?$(cat "$scratch/err")" 0
	manifest=$scratch/whole.yaml
else
	skip "kustomize puts the files for Kubernetes together" "kubectl is not installed"
fi
cat >"$scratch/look.py" <<'END'
import sys, yaml
all = [d for d in yaml.safe_load_all(open(sys.argv[1]))]
pod = next(d for d in all if d["kind"] == "DaemonSet")
spec = pod["spec"]["template"]["spec"]
(one,) = spec["containers"]
print("the DaemonSet selects its own pods", pod["spec"]["selector"]["matchLabels"], pod["spec"]["template"]["metadata"]["labels"], sep="\t")
print("the DaemonSet takes the image of this version", one["image"], "tactus:" + sys.argv[2], sep="\t")
print("every mount of the DaemonSet has its volume", sorted(m["name"] for m in one["volumeMounts"]), sorted(v["name"] for v in spec["volumes"]), sep="\t")
print("the DaemonSet is not privileged", one["securityContext"]["privileged"], False, sep="\t")
END
python3 "$scratch/look.py" "$manifest" "$version" >"$scratch/looks"
checks_of "$scratch/looks"

# The limit of memory, where control groups can have one.
limit=$(python3 -c 'import sys, yaml; print(next(d for d in yaml.safe_load_all(open(sys.argv[1])) if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"].replace("Mi", "M"))' "$manifest")
top=$(findmnt -t cgroup2 -no TARGET | head -n 1)
group=$top/tactus-pod-$$
mkdir "$group"
bash -c 'echo "$1" >"$2/memory.max"' - "$limit" "$group" 2>/dev/null || say_measured "control groups have no limit of memory here: $limit is not tried"
mkdir -p "$scratch/volumes"
(echo $BASHPID >"$group/cgroup.procs"; exec unshare -m tests/pod.py "$manifest" "$scratch/unpacked/root" "$scratch/volumes" "$PWD/deploy/kubernetes" "$scratch/pid") >"$scratch/stdout" 2>"$scratch/stderr" &
pod=$!
# in_pod COMMAND...: as kubelet's probes do
in_pod() { nsenter -t "$pod" -m -r -w -- "$@"; }
for _ in $(seq 600); do
	in_pod /usr/sbin/tactus status >"$scratch/status" 2>/dev/null && break
	kill -0 "$pod" 2>/dev/null || break
	sleep 0.2
done
like "the DaemonSet's probe is answered by the container once it is ready" "$(tr '\n' ' ' <"$scratch/status")" "\[$pod\].*acts by"
say_measured "$(head -n 2 "$scratch/status" | tr -s ' \n' ' '); memory of the container at most $(cat "$group/memory.peak" 2>/dev/null || echo unknown) bytes"
is "the container has no capability but those of the manifest" "$(awk '/^CapBnd/ { print $2 }' "/proc/$pod/status" | python3 -c 'import sys; sys.path.insert(0, "tests"); import pod, yaml
bits = int(sys.stdin.read(), 16)
want = next(d for d in yaml.safe_load_all(open(sys.argv[1])) if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]["containers"][0]["securityContext"]["capabilities"]["add"]
print(sorted(n for i, n in enumerate(pod.NAMES) if bits >> i & 1 and n not in want))' "$manifest")" "[]"
is "no part of tactus was refused for want of a right in the container" "$(grep -ciE 'permission denied|operation not permitted|read-only file' "$scratch/stderr")" 0
grep -iE 'permission denied|operation not permitted|read-only file' "$scratch/stderr" | head -n 5 | sed 's/^/# /'
readers() { in_pod /usr/sbin/tactus status --json | json 'd["readers"]'; }
is "the container goes by the ConfigMap" "$(readers)" root
# As a kubelet does a minute after a change of it: the new files in a folder of their own, and then the link to it in one go.
configuration=$scratch/volumes/configmap
mkdir "$configuration/..2"
sed 's/^readers = root$/readers = all/' deploy/kubernetes/tactus.conf >"$configuration/..2/tactus.conf"
ln -s ..2 "$configuration/..new" && mv -T "$configuration/..new" "$configuration/..data"
is "a ConfigMap that was changed is in force after a reload" "$(in_pod /usr/sbin/tactus reload 2>&1) $(readers)" "reloaded all"
in_pod /usr/sbin/tactus pause >"$scratch/paused" 2>&1
like "the container is paused from inside" "$(in_pod /usr/sbin/tactus status 2>&1)" 'paused'
kill -TERM "$pod"
wait "$pod"
is "the container ends by itself on SIGTERM, with status 0" $? 0
is "the container leaves no hint behind on its host" "$(find "$scratch/volumes/run/tactus" -name '*journal*' -size +0 2>/dev/null)" ""
pod=
done_testing
