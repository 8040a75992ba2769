#!/usr/bin/env python3
"""Reads a container image (a tar file in the OCI's layout), checks every digest and size, and unpacks what it is for this architecture.
Usage: image_check.py IMAGE.tar FOLDER   Leaves FOLDER/root and FOLDER/config.json; prints lines of name, got and wanted, parted by tabs."""
import gzip, hashlib, io, json, os, platform, sys, tarfile


def main(path, folder):
    with tarfile.open(path) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar.getmembers()}
    seen = set()

    def blob(one):
        name = "blobs/" + one["digest"].replace(":", "/")
        data = files[name]
        seen.add(name)
        got = f"{len(data)} sha256:{hashlib.sha256(data).hexdigest()}"
        print(f"the image's blob of type {one['mediaType'].split('.')[3]} has the size and digest that it is named by", got, f"{one['size']} {one['digest']}", sep="\t")
        return data

    print("the image says that it is of the OCI's layout", json.loads(files["oci-layout"])["imageLayoutVersion"], "1.0.0", sep="\t")
    (top,) = json.loads(files["index.json"])["manifests"]
    found = [top] if "manifest" in top["mediaType"] else json.loads(blob(top))["manifests"]
    own = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    for one in found:
        manifest = json.loads(blob(one))
        config = json.loads(blob(manifest["config"]))
        (layer,) = manifest["layers"]
        packed = blob(layer)
        print("the image's layer is the one that its configuration names", "sha256:" + hashlib.sha256(gzip.decompress(packed)).hexdigest(), config["rootfs"]["diff_ids"][0], sep="\t")
        print("the image's configuration is of the architecture that its manifest says", config["architecture"], one["platform"]["architecture"], sep="\t")
        if config["architecture"] == own:
            with open(os.path.join(folder, "config.json"), "w") as file:
                json.dump(config, file)
            with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
                print("all files of the image are root's", sorted({(m.uid, m.gid) for m in tar.getmembers()}), [(0, 0)], sep="\t")
                tar.extractall(os.path.join(folder, "root"))
    (docker,) = json.loads(files["manifest.json"])
    print("what older dockers read names blobs that are there", {docker["Config"], *docker["Layers"]} <= seen, True, sep="\t")
    print("the image holds nothing that is not named", sorted(set(files) - seen), ["index.json", "manifest.json", "oci-layout"], sep="\t")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
