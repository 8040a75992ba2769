#!/usr/bin/env python3
"""Checks of tests whose names do not stand alone, one a line: tools/test-names.py FILE...
A failing line is read by itself, so its name begins with what it is about, not with a connective or a pronoun."""
import re
import sys

REFUSED = re.compile(
    r"(and|nor|but|so|as|it|its|they|none|each|with|without|not|even|or|by|then|one|him|that)\b", re.I)
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[(){}\[\],]')
C_CHECK = re.compile(r"\b(ok|is|is_text)\(")
SHELL_CHECK = re.compile(r'\b(?:is|like|holds|ends|pass|flunk|skip|check)[ (]"([^"]*)"')


def arguments(text, at):
    """The arguments of the call whose parenthesis is before `at`."""
    depth, begin, found = 1, at, []
    for token in TOKEN.finditer(text, at):
        sign = token.group()
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and sign == ","):
            found.append(text[begin:token.start()].strip())
            begin = token.end()
        if depth == 0:
            break
    return found


def names(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith((".c", ".h")):
        for call in C_CHECK.finditer(text):
            given = arguments(text, call.end())
            place = 1 if call.group(1) == "ok" else 2
            if len(given) > place and given[place].startswith('"'):
                yield text.count("\n", 0, call.start()) + 1, given[place].strip('"')
    else:
        for call in SHELL_CHECK.finditer(text):
            yield text.count("\n", 0, call.start()) + 1, call.group(1)


for path in sys.argv[1:]:
    for line, name in names(path):
        if REFUSED.match(name):
            print(f"{path}:{line}: \"{name}\" does not stand alone")
