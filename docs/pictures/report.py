#!/usr/bin/env python3
"""Takes the picture of a report's frame graph in a browser: python3 docs/pictures/report.py docs/pictures/report-frames.png
Needs chromium and chromium-driver."""
import base64
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests")
from browser import Browser  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    page = os.path.join(folder, "report.html")
    subprocess.run([os.environ.get("TACTUS", "build/tactus"), "report", "-i", "examples/late-frames.tactus", "-o", page], check=True, capture_output=True)
    with Browser(folder, 1180, 1600) as browser:
        browser.open("file://" + page)
        browser.wait('document.documentElement.dataset.ready === "yes"')
        # The frame that was latest, among those beside the compile.
        browser.run("const graph = frameGraph; graph.choose(graph.late.filter((one) => one.at_ns > whole / 2).sort((a, b) => b.late_ns - a.late_ns)[0]);"
                    "document.querySelectorAll('#frames .halves').forEach((one) => one.remove()); drawNow()")
        browser.wait("document.querySelector('#late-detail svg rect')")
        found = browser.ask("POST", "/element", {"using": "css selector", "value": "#frames"})
        picture = browser.ask("GET", f"/element/{next(iter(found.values()))}/screenshot")
pathlib.Path(sys.argv[1]).write_bytes(base64.b64decode(picture))
