#!/usr/bin/env python3
"""Writes a container image in the OCI's layout as one tar file, which skopeo, podman, ctr and docker load; the same bytes each time.
Usage: oci.py OUT NAME:TAG SECONDS ARCH=FOLDER...   A folder is the root of the image for that architecture (amd64, arm64); all files are root's,
of that time. The image's first process is /usr/sbin/tactus run. Standard library only: no builder, no daemon, no root."""
import gzip, hashlib, io, json, os, sys, tarfile, time

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def encode(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


class Image:
    def __init__(self, seconds):
        self.seconds = seconds
        self.files = {}

    def blob(self, media_type, data):
        self.files["blobs/sha256/" + digest(data).split(":")[1]] = data
        return {"mediaType": media_type, "digest": digest(data), "size": len(data)}

    def layer(self, folder):
        """Returns the layer's tar file; its digest is that of the uncompressed bytes."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for top, folders, names in os.walk(folder):
                folders.sort()
                for name in sorted(folders + names):
                    path = os.path.join(top, name)
                    info = tar.gettarinfo(path, os.path.relpath(path, folder))
                    info.uid = info.gid = 0
                    info.uname = info.gname = ""
                    info.mtime = self.seconds
                    if info.isreg():
                        with open(path, "rb") as data:
                            tar.addfile(info, data)
                    else:
                        tar.addfile(info)
        return out.getvalue()

    def add(self, architecture, folder):
        layer = self.layer(folder)
        packed = self.blob(LAYER, gzip.compress(layer, 9, mtime=0))
        config = self.blob(CONFIG, encode({
            "architecture": architecture,
            "os": "linux",
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.seconds)),
            "config": {"Entrypoint": ["/usr/sbin/tactus"], "Cmd": ["run"], "User": "0:0", "WorkingDir": "/"},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
            "history": [{"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.seconds)), "created_by": "make image"}],
        }))
        manifest = self.blob(MANIFEST, encode({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [packed]}))
        manifest["platform"] = {"architecture": architecture, "os": "linux"}
        return manifest, config, packed

    def write(self, path):
        with tarfile.open(path + ".part", "w", format=tarfile.USTAR_FORMAT) as tar:
            for name in sorted(self.files):
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.mtime = len(self.files[name]), 0o644, self.seconds
                tar.addfile(info, io.BytesIO(self.files[name]))
        os.rename(path + ".part", path)


def main(out, name, seconds, *roots):
    image = Image(int(seconds))
    built = [image.add(*root.split("=", 1)) for root in roots]
    tag = name.rsplit(":", 1)[1]
    named = {"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": "docker.io/library/" + name}
    if len(built) == 1:
        top = dict(built[0][0])
    else:
        top = image.blob(INDEX, encode({"schemaVersion": 2, "mediaType": INDEX, "manifests": [one[0] for one in built]}))
    image.files["oci-layout"] = encode({"imageLayoutVersion": "1.0.0"})
    image.files["index.json"] = encode({"schemaVersion": 2, "mediaType": INDEX, "manifests": [dict(top, annotations=named)]})
    # What docker before version 25 loads: the first architecture alone.
    place = lambda one: "blobs/sha256/" + one["digest"].split(":")[1]
    image.files["manifest.json"] = encode([{"Config": place(built[0][1]), "RepoTags": [name], "Layers": [place(built[0][2])]}])
    image.write(out)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
