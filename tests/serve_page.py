#!/usr/bin/env python3
"""A page that is served, in a browser: `serve_page.py SCRATCH LOG URL TID RUN SERVER`. RUN: what the run prints itself; SERVER: its process, which is ended
here. Prints as report_page.py does."""
import json
import os
import signal
import sys
import time

from browser import Browser, check, same

scratch, log, url, tid, run_out, server = sys.argv[1:]
NAME = "<b>yes"
ROWS = ("return Object.fromEntries([...document.querySelectorAll('#thread-table tbody tr')].map((tr) => [tr.querySelector('td').textContent, "
        "Number(tr.querySelector('[data-field=cpu_ns]').dataset.value)]))")


def updates(page, more):
    """Waits until the page was drawn anew so many times more."""
    now = page.run("return Number(document.documentElement.dataset.updates || 0)")
    page.wait(f"Number(document.documentElement.dataset.updates || 0) >= {now + more}")


def ran_ns():
    return int(open(f"/proc/{tid}/schedstat", encoding="ascii").read().split()[0])


def main():
    with Browser(scratch) as page:
        page.open(url)
        page.wait('document.documentElement.dataset.ready === "yes"')
        same("the browser has no complaint about a page that is served", page.console(), [])
        page.wait("(document.querySelector('#thread-table') || {}).textContent")
        page.run("const input = document.querySelector('#thread-table input'); input.focus(); input.value = '<b>y'; input.dispatchEvent(new Event('input'))")
        page.wait(f"[...document.querySelectorAll('#thread-table tbody td:first-child')].some((td) => td.textContent === '{NAME}')")
        first = page.run(ROWS)
        page.run("setView(whole * 0.25, whole * 0.5); window.zoomed = [view.from, view.to]")
        updates(page, 2)
        later, most = page.run(ROWS), ran_ns()
        same("the filter stays when the page is drawn anew", [set(first), set(later)], [{NAME}, {NAME}])
        check("a thread's CPU time grows on the page", later[NAME] > first[NAME], (first, later))
        check("a thread has no more CPU time on the page than the kernel counts", later[NAME] <= most, (later, most))
        print(f"# measured: {first[NAME] / 1e9:.3f} s, then {later[NAME] / 1e9:.3f} s of CPU time on the page, {most / 1e9:.3f} s by the kernel since its start")
        same("the filter keeps the focus when the page is drawn anew", page.run("return document.activeElement.type + ' ' + document.activeElement.value"), "search <b>y")
        same("what was zoomed to stays when the page is drawn anew", page.run("return Math.abs(view.from - zoomed[0]) + Math.abs(view.to - zoomed[1]) < 1000"), True)
        same("a name that is HTML is text on a page that is served", page.run("return document.querySelectorAll('#thread-table b').length"), 0)
        page.run("showAll()")
        page.wait("all('run_second').length > 1")
        told = {row["wall_ns"]: row for row in (json.loads(line) for line in open(run_out, encoding="utf-8") if line.endswith("\n")) if row["record"] == "run_second"}
        shown = page.run("return all('run_second').map((row) => [row.wall_ns / 1e6, row.switches, row.threads_by_tier.normal])")
        near = [[row for wall, row in told.items() if abs(wall / 1e6 - at) < 0.01] for at, _, _ in shown]
        same("what the page shows of the run is what the run printed", [[rows[0]["switches"], rows[0]["threads_by_tier"]["normal"]] for rows in near if rows],
             [[switches, normal] for _, switches, normal in shown])
        print(f"# measured: {len(shown)} seconds of the run on the page")
        page.picture(os.path.join(log, "report-served.png"), whole=True)
        page.run("document.getElementById('hold').click()")
        held = page.run("return document.documentElement.dataset.updates")
        time.sleep(5)
        check("a page that is held is not drawn anew", int(page.run("return document.documentElement.dataset.updates")) <= int(held) + 1, held)
        page.run("document.getElementById('hold').click()")
        updates(page, 1)
        same("the browser has no complaint after all that", page.console(), [])
        os.kill(int(server), signal.SIGINT)
        page.wait("document.getElementById('live').textContent.includes('does not answer')")
        check("a page whose server has ended says so", True)


main()
