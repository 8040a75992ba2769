#!/usr/bin/env python3
"""Takes pictures of pages in a browser: the frame graph of a report, and the curves of a comparison. python3 docs/pictures/report.py FOLDER
Needs chromium and chromium-driver."""
import base64
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests")
from browser import Browser  # noqa: E402

TACTUS = os.environ.get("TACTUS", "build/tactus")
PAIR = ["tests/recordings/wakers-eevdf.tactus", "tests/recordings/wakers-tactus.tactus"]


def take(browser, section, name):
    found = browser.ask("POST", "/element", {"using": "css selector", "value": section})
    picture = browser.ask("GET", f"/element/{next(iter(found.values()))}/screenshot")
    pathlib.Path(sys.argv[1], name).write_bytes(base64.b64decode(picture))


with tempfile.TemporaryDirectory() as folder:
    page, compared = os.path.join(folder, "report.html"), os.path.join(folder, "compare.html")
    subprocess.run([TACTUS, "report", "-i", "examples/late-frames.tactus", "-o", page], check=True, capture_output=True)
    subprocess.run([TACTUS, "compare", *PAIR, "--html", compared], check=True, capture_output=True)
    with Browser(folder, 1180, 1600) as browser:
        browser.open("file://" + page)
        browser.wait('document.documentElement.dataset.ready === "yes"')
        # The frame that was latest, among those beside the compile.
        browser.run("const graph = frameGraph; graph.choose(graph.late.filter((one) => one.at_ns > whole / 2).sort((a, b) => b.late_ns - a.late_ns)[0]);"
                    "document.querySelectorAll('#frames .halves').forEach((one) => one.remove()); drawNow()")
        browser.wait("document.querySelector('#late-detail svg rect')")
        take(browser, "#frames", "report-frames.png")
        browser.open("file://" + compared)
        browser.wait('document.documentElement.dataset.ready === "yes"')
        browser.run("document.querySelectorAll('#curves .curve').forEach((one) => { if (!/latency-critical|batch/.test(one.dataset.curve)) one.remove(); })")
        take(browser, "#curves", "compare-curves.png")
