#!/usr/bin/env python3
"""The errors of predictions by pairs of policies, out of the tables of docs/simulate.md: expected.py prints them as rows for
src/model/expected.c; expected.py --write puts them there ('make format' then); expected.py --check says with its status whether they are there."""
import re
import statistics
import sys

DOCUMENT, SOURCE = "docs/simulate.md", "src/model/expected.c"
BEGIN, END = "\t/* expected rows begin */\n", "\t/* expected rows end */\n"


def rows():
    errors = {}
    row = re.compile(r"^\| \w+ \| (\w+) \| [0-9.]+, [0-9.]+ %[^|]*\| (\w+) \| ([0-9.]+) \(")
    with open(DOCUMENT, encoding="utf-8") as file:
        for line in file:
            found = row.match(line)
            # What was not the same load is no prediction that failed.
            if found and "not the same load" not in line:
                errors.setdefault((found[1], found[2]), []).append(float(found[3]))
    return [(recorded, policy, f"{statistics.median(of):.2f}", f"{max(of):.2f}", str(len(of))) for (recorded, policy), of in sorted(errors.items())]


def main():
    wanted = rows()
    lines = "".join(f'\t{{ "{row[0]}", "{row[1]}", {{ {row[2]}, {row[3]}, {row[4]} }} }},\n' for row in wanted)
    with open(SOURCE, encoding="utf-8") as file:
        text = file.read()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    if sys.argv[1:] == ["--check"]:
        return 0 if wanted and re.findall(r'{ "(\w+)", "(\w+)", { ([0-9.]+), ([0-9.]+), (\d+) } }', text[begin:end]) == wanted else 1
    if sys.argv[1:] == ["--write"]:
        with open(SOURCE, "w", encoding="utf-8") as file:
            file.write(text[:begin] + lines + text[end:])
    else:
        print(lines, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
