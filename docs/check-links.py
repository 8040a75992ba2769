#!/usr/bin/env python3
"""Checks that relative links and anchors of the Markdown files resolve; prints those that do not, and ends with 1 then."""
import os, re, subprocess, sys

def anchors(path):
    heads = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", open(path).read(), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", h).lower()).replace(" ", "-") for h in heads}

bad = []
for path in subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split():
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", open(path).read(), flags=re.S)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(target) or (anchor and anchor not in anchors(target)):
            bad.append(f"{path}: {link}")
print("\n".join(bad) or "every link resolves")
sys.exit(bool(bad))
