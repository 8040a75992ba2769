#!/usr/bin/env python3
"""Checks of tests whose names do not stand alone, one a line: tools/test-names.py FILE...
A failing line is read by itself, so its name begins with what it is about, not with a connective or a pronoun.
A check that asks two things at once does not tell which of them failed; it is refused too, and so is a comparison of structs byte by
byte: what lies between their fields is whatever was there."""
import re
import sys

REFUSED = re.compile(
    r"(and|nor|but|so|as|it|its|they|none|each|with|without|not|even|or|by|then|one|him|that|those|there|which|for|once|twice(?! the)|both|same|just)\b", re.I)
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[(){}\[\],]')
C_CHECK = re.compile(r"\b(ok|is|is_text|is_between)\(")
NAME_AT = {"ok": 1, "is": 2, "is_text": 2, "is_between": 3}
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
MEMCMP = re.compile(r"\bmemcmp\(")
TWO_TESTS = re.compile(r'\bholds\s+("[^"]*")\s(?:\s|\\\n)*test\b(?:[^\n\\]|\\\n)*?\s-a\s')
SHELL_CHECK = re.compile(r'\b(?:is|is_between|like|holds|ends|pass|flunk|skip|check)[ (]"([^"]*)"')


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


def checks_of_c(text):
    """Line, what is checked and the name of each check."""
    for call in C_CHECK.finditer(text):
        given = arguments(text, call.end())
        place = NAME_AT[call.group(1)]
        if len(given) > place:
            yield text.count("\n", 0, call.start()) + 1, given[0], given[place]


def faults(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith((".c", ".h")):
        for line, checked, name in checks_of_c(text):
            if name.startswith('"') and REFUSED.match(name.strip('"')):
                yield line, f"{name} does not stand alone"
            if "&&" in LITERAL.sub("", checked):
                yield line, f"{name} asks two things at once"
        for call in MEMCMP.finditer(text):
            given = arguments(text, call.end())
            if any(one.startswith("&") for one in given[:2]) or re.search(r"sizeof\((struct\b|\*)", given[2]):
                yield text.count("\n", 0, call.start()) + 1, "memcmp of structs: compare their fields"
    else:
        for call in TWO_TESTS.finditer(text):
            yield text.count("\n", 0, call.start()) + 1, f"{call.group(1)} asks two things at once"
        for call in SHELL_CHECK.finditer(text):
            if REFUSED.match(call.group(1)):
                yield text.count("\n", 0, call.start()) + 1, f'"{call.group(1)}" does not stand alone'


for path in sys.argv[1:]:
    for line, fault in faults(path):
        print(f"{path}:{line}: {fault}")
