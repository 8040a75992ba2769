#!/usr/bin/env python3
"""Prints the records in a page of 'tactus report' as 'tactus report --json' does, that is with <, > and & as they are: `page_records.py FILE`."""
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
records = re.search(r'<script type="application/x-ndjson" id="records">\n(.*?)</script>', page, re.S).group(1)
for escape, sign in (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")):
    records = records.replace(escape, sign)
sys.stdout.write(records)
