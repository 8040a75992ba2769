#!/usr/bin/env bash
# The files of deploy/kubernetes against Kubernetes' own schema, as the npm package kubernetes-models has it: every value fits, and every field is one that Kubernetes knows.
. tests/tap.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/tactus/kubernetes-models
if ! command -v npm >/dev/null || ! command -v node >/dev/null || ! command -v kubectl >/dev/null; then
	skip "the manifests fit Kubernetes' schema" "npm, node or kubectl is not installed"
	done_testing
fi
if [ ! -e "$cache/node_modules/kubernetes-models/package.json" ]; then
	mkdir -p "$cache"
	(cd "$cache" && npm install --ignore-scripts --no-audit --no-fund kubernetes-models) >"$scratch/npm" 2>&1
fi
if [ ! -e "$cache/node_modules/kubernetes-models/package.json" ]; then
	skip "the manifests fit Kubernetes' schema" "kubernetes-models can't be had: $(tail -n 1 "$scratch/npm")"
	done_testing
fi
# as_json FOLDER: what kustomize makes of it
as_json() { kubectl kustomize "$1" | python3 -c 'import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)'; }
# against <JSON: a line for each fault. A field that no validator has looked at is one that Kubernetes does not know.
against() {
	node -e '
const schemas = process.argv[1] + "/node_modules/kubernetes-models/_schemas/IoK8sApi";
const names = { "apps/v1": "AppsV1", v1: "CoreV1" };
function watched(value, path, seen) {
	if (value === null || typeof value !== "object") return value;
	return new Proxy(value, {
		get(target, key) {
			if (typeof key === "string" && Object.hasOwn(target, key)) seen.add(path + "/" + key);
			return Object.hasOwn(target, key) ? watched(target[key], path + "/" + String(key), seen) : Reflect.get(target, key);
		},
	});
}
function unseen(value, path, seen, faults) {
	if (value === null || typeof value !== "object") return;
	for (const key of Object.keys(value)) {
		if (!seen.has(path + "/" + key)) faults.push(path + "/" + key + ": no such field");
		else unseen(value[key], path + "/" + key, seen, faults);
	}
}
for (const one of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
	const { validate } = require(schemas + names[one.apiVersion] + one.kind + ".js");
	const seen = new Set(), faults = [];
	if (!validate(watched(one, "", seen)))
		for (const error of validate.errors) faults.push(error.instancePath + ": " + error.keyword + " " + JSON.stringify(error.params));
	unseen(one, "", seen, faults);
	for (const fault of faults) console.log(one.kind + " " + one.metadata.name + fault);
}' "$cache"
}
for folder in deploy/kubernetes deploy/kubernetes-figures; do
	as_json "$folder" >"$scratch/all.json"
	holds "kustomize makes a DaemonSet of $folder" grep -q '"kind": "DaemonSet"' "$scratch/all.json"
	is "what kustomize makes of $folder fits Kubernetes' schema" "$(against <"$scratch/all.json" 2>&1)" ""
done
# What is wrong is found, or the checks above say nothing.
spoilt() { python3 -c 'import json, sys
all = json.load(open(sys.argv[1]))
pod = next(d for d in all if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]
exec(sys.argv[2])
json.dump(all, sys.stdout)' "$scratch/all.json" "$1" | against; }
like "a field whose name is wrong by a letter is found" "$(spoilt 'pod["hostPid"] = pod.pop("hostPID")')" 'hostPid: no such field'
like "a capability in the wrong place is found" "$(spoilt 'pod["containers"][0]["capabilities"] = pod["containers"][0]["securityContext"].pop("capabilities")')" 'capabilities: no such field'
like "a mount without a path is found" "$(spoilt 'pod["containers"][0]["volumeMounts"][0].pop("mountPath")')" 'required .*mountPath'
like "a list that is a word is found" "$(spoilt 'pod["tolerations"] = "all"')" 'tolerations: type'
say_measured "kubernetes-models $(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$cache/node_modules/kubernetes-models/package.json")"
done_testing
