#!/usr/bin/env python3
"""Makes the screens in docs/top.md anew: each block that begins with '$ tactus top' gets what that command prints.
With --check nothing is written, and the exit status is 1 if a screen is not what is printed. Run from the top of the checkout."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

PAGE = pathlib.Path("docs/top.md")
BLOCK = re.compile(r"```\n\$ (?P<command>(?:[A-Z]+=\S+ )*tactus top [^\n]*)\n.*?```", re.S)


def screen(found):
    words = shlex.split(found["command"])
    settings = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80", "LINES": "24"}
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        settings[name] = value
    program = os.environ.get("TACTUS", "build/tactus")
    done = subprocess.run([program, *words[1:]], env={**os.environ, **settings}, check=True, capture_output=True, text=True)
    return f"```\n$ {found['command']}\n{done.stdout.rstrip()}\n```"


def main():
    old = PAGE.read_text(encoding="utf-8")
    new, screens = BLOCK.subn(screen, old)
    print(f"{screens} screens")
    if "--check" in sys.argv[1:]:
        sys.exit(old != new)
    PAGE.write_text(new, encoding="utf-8")


main()
