#!/usr/bin/env python3
"""Makes one page of report/page.html, style and its scripts: `page.py FOLDER >OUT`. Style and script go inside, and their hashes into
the page's Content-Security-Policy: a browser runs these two and nothing else."""
import base64
import hashlib
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
page = (folder / "page.html").read_text(encoding="utf-8")
PARTS = {"css": ["page"], "js": ["records", "axis", "tables", "frames", "waits", "steps", "compare", "live", "page"]}  # in this order
for kind, parts in PARTS.items():
    text = "".join((folder / f"{part}.{kind}").read_text(encoding="utf-8") for part in parts)
    assert "</" + {"css": "style", "js": "script"}[kind] not in text, f"the {kind} would end its own element"
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    for mark, value in ((f"@{kind}@", text), (f"@{kind}-hash@", "sha256-" + digest)):
        assert page.count(mark) == 1, f"{mark} is {page.count(mark)} times in page.html"
        page = page.replace(mark, value)
sys.stdout.write(page)
