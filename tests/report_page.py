#!/usr/bin/env python3
"""The pages of tests/replay/36-report.sh in a browser: `report_page.py SCRATCH LOG`. Prints "ok<tab>NAME" or "no<tab>NAME<tab>WHAT WAS SEEN"."""
import collections
import json
import math
import os
import sys

from browser import Browser, check, same

scratch, log = sys.argv[1:]


def rows_of(view):
    return [json.loads(line) for line in open(os.path.join(scratch, "views", view), encoding="utf-8")]


def time_words(ns):
    """As sink/text.c has it."""
    for unit, word in ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")):
        value = ns / unit
        if value >= 0.9995:
            return f"{value:.{0 if value >= 99.95 or unit == 1 else 1 if value >= 9.995 else 2}f} {word}"
    return "0"


def open_page(page, name):
    page.open("file://" + os.path.join(scratch, name))
    page.wait('document.documentElement.dataset.ready === "yes"')
    odd = page.run("const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT), found = []; while (walk.nextNode())"
                   " if (/\\b(null|undefined|NaN|Infinity)\\b|\\[object/.test(walk.currentNode.data)) found.push(walk.currentNode.data); return found")
    same(f"{name} says nowhere null, undefined or NaN", odd, [])


def cells(page, table):
    """Of each row of a table the numbers behind its cells, by field."""
    return page.run("return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map((tr) => Object.fromEntries("
                    "[...tr.querySelectorAll('td[data-field]')].map((td) => [td.dataset.field, [Number(td.dataset.value), td.textContent]])))", table)


def check_numbers(page):
    frames = [row for row in rows_of("frames") if row["record"] == "frames"][0]
    tiles = page.run("return Object.fromEntries([...document.querySelectorAll('#frame-tiles [data-field], #percentiles [data-field]')]"
                     ".map((one) => [one.dataset.field, Number(one.dataset.value)]))")
    same("figures of frames on the page are those of 'tactus frames --json'", tiles, {field: frames[field] for field in tiles})
    text = page.run("return document.querySelector('#percentiles [data-field=p99_ns]').textContent")
    same("times on the page read as the program prints them", text, time_words(frames["p99_ns"]))
    latency = {row["row"]: row for row in rows_of("latency") if row["record"] == "latency"}
    table = cells(page, "#wait-table")
    same("waits on the page are those of 'tactus latency --json'", [{field: value[0] for field, value in row.items()} for row in table],
         [{field: latency[kind][field] for field in table[0]} for kind in ("all", "wakeup", "preempt")])
    same("waits in the heat map are all waits", page.run("return waitCells().reduce((a, b) => a + b)"), latency["all"]["waits"])
    tasks = {row["tid"]: row for row in rows_of("tasks")}
    rows = cells(page, "#thread-table")
    same("the page shows as many threads as 'tactus tasks' has", len(rows), min(len(tasks), 60))
    wrong = [row for row in rows for field in ("cpu_ns", "wait_ns", "wait_max_ns", "wakeups", "involuntary", "migrations")
             if row[field][0] != tasks[row["tid"][0]][field]]
    same("threads on the page have the numbers of 'tactus tasks --json'", wrong, [])
    causes = {row["cause"]: row["moves"] for row in rows_of("migrations") if row["record"] == "migration_cause"}
    shown = page.run("return [...document.querySelectorAll('#moves .bars > div')].map((one) => one.textContent)")
    words = {"wakeup": "as it woke up", "balance": "to spread the load", "affinity": "its CPUs were changed"}
    same("moves by cause on the page are those of 'tactus migrations --json'", shown,
         [word for cause, moves in causes.items() for word in (words[cause], f"{moves} move{'s' * (moves != 1)}")])
    cpu = page.run("return Number(document.querySelector('#cpus [data-field=cpu_ns]').dataset.value)")
    whole = sum(row["cpu_ns"] for row in tasks.values())
    same("CPU time of all roles on the page is that of all threads", cpu, whole)
    print(f"# measured: {cpu / 1e9:.6f} s of CPU time on the page, {whole / 1e9:.6f} s in the accounts")


def check_waits(page):
    """Each cell of the heat map and of the matrix by the waits that 'tactus latency --over' lists one by one: those of 64 us or more."""
    head, waits = rows_of("report")[0], [row for row in rows_of("over") if row["record"] == "wait"]
    cells_of = page.run("const cells = waitCells(); return Object.fromEntries([...cells.keys()].filter((at) => cells[at]).map((at) => [at, cells[at]]))")
    octaves, first = page.run("return OCTAVES"), 7
    listed = collections.Counter(str((row["time_ns"] - head["from_ns"]) // head["bin_ns"] * octaves + (row["wait_ns"] // 1000).bit_length()) for row in waits if row["wait_ns"] >= 64000)
    drawn = {at: count for at, count in cells_of.items() if int(at) % octaves >= first}
    same("each cell of the heat map has the waits of that time and length that 'tactus latency --over' lists", drawn, dict(listed))
    at, count = max(drawn.items(), key=lambda cell: cell[1])
    spot = page.run("const chart = charts.find((one) => one.label.startsWith('Waits for a CPU')), [bin, octave] = arguments; chart.canvas.scrollIntoView({ block: 'center', behavior: 'instant' });"
                    "const box = chart.canvas.getBoundingClientRect(); let y = 0; while (y < chart.deep && chart.row(octave) > y) y++;"
                    "return [box.left + chart.x((bin + 0.5) * binNs), box.top + y + 3]", int(at) // octaves, int(at) % octaves)
    page.hover(*spot)
    words = page.wait("!document.getElementById('tip').hidden && document.getElementById('tip').textContent")
    check("the mouse over a cell of the heat map says how many waits it has", words.startswith(f"{count} waits of "), (words, at, count))
    names = page.run("return [[...document.querySelectorAll('#matrix tbody th')], [...document.querySelectorAll('#matrix thead th:not(.corner)')]].map((row) => row.map((one) => one.textContent))")
    shown = page.run("return [...document.querySelectorAll('#matrix tbody tr')].map((tr) => [...tr.querySelectorAll('td')].map((td) => Number(td.dataset.value || 0)))")
    sums = collections.Counter()
    for row in waits:
        if row["wait_ns"] >= head["behind_ns"]:
            sums[tuple(name if name in known else "others" for name, known in zip((row["comm"], row["behind_comm"]), names))] += row["wait_ns"]
    same("each field of who waited behind whom is the sum of the waits that 'tactus latency --over' lists", shown, [[sums[waiter, culprit] for culprit in names[1]] for waiter in names[0]])
    same("what waited behind others in all is the sum of those waits", page.run("return Number(document.querySelector('#behind [data-field=behind_ns]').dataset.value)"), sum(sums.values()))
    print(f"# measured: {len(drawn)} cells of {len(waits)} waits, {len(names[0])} names by {len(names[1])}, {sum(sums.values()) / 1e9:.3f} s behind others")


def check_histogram(page):
    took = [row["interval_ns"] for row in rows_of("each") if row["record"] == "frame" and row["interval_ns"]]
    step, len_ = page.run("return [frameGraph.series.step, frameGraph.series.counts.length]")
    bars = page.run("return [...document.querySelectorAll('.hist rect[data-bin]')].map((one) => [Number(one.dataset.bin), Number(one.dataset.value), one.height.baseVal.value])")
    wanted = collections.Counter(min(ns // step, len_ - 1) for ns in took)
    same("the bars of the histogram are how many frames of 'tactus frames --each' took that long", {at: count for at, count, _ in bars}, dict(wanted))
    ratios = [tall / math.log1p(count) for _, count, tall in bars]
    check("a bar of the histogram is as high as the logarithm of its count", max(ratios) < 1.01 * min(ratios), ratios)


def check_timers(page):
    rows = {row["tid"]: row for row in rows_of("misses") if row["record"] == "miss_thread"}
    shown = {row["tid"][0]: row for row in cells(page, "#timer-table")}
    same("threads that work by a timer on the page are those of 'tactus misses --json'", {tid: {field: value[0] for field, value in row.items()} for tid, row in shown.items()},
         {tid: {field: row[field] for field in next(iter(shown.values()), {})} for tid, row in rows.items()})
    check("there is a thread that works by a timer", len(shown) > 0, shown)


def check_late(page):
    late = [row for row in rows_of("why") if row["record"] == "late_frame"]
    same("late frames of the graph are those of 'tactus frames --why'", page.run("return frameGraph.late.map((one) => one.frame)"), [row["late_frame"] for row in late])
    longest = max(late, key=lambda row: row["interval_ns"])
    spot = page.run("const one = frameGraph.late.find((late) => late.frame === arguments[0]), box = frameGraph.chart.canvas.getBoundingClientRect();"
                    "frameGraph.chart.canvas.scrollIntoView({ block: 'center', behavior: 'instant' }); const at = frameGraph.chart.canvas.getBoundingClientRect();"
                    "return [at.left + frameGraph.chart.x(one.at_ns - one.interval_ns / 2), at.top + at.height / 2]", longest["late_frame"])
    page.drag([spot])
    page.wait("document.querySelector('#late-detail')")
    words = page.run("return document.querySelector('#late-detail').textContent")
    check("a click on a late frame says which it is and how late", f"Frame {longest['late_frame']}: {time_words(longest['interval_ns'])}, {time_words(longest['late_ns'])} late" in words, words)
    check("a click on a late frame says who was in the way", f"behind {longest['other_comm']} [{longest['other_tid']}]" in words, words)
    parts = page.run("return [...document.querySelectorAll('#late-parts [data-field=part_ns]')].map((one) => Number(one.dataset.value))")
    same("a late frame's parts are those of 'tactus frames --why --json', and add up to it", [parts, sum(parts)],
         [[part["part_ns"] for part in longest["parts"]] + [longest["rest_ns"]] * (longest["rest_ns"] > 0), longest["interval_ns"]])
    print(f"# measured: frame {longest['late_frame']}: {len(parts)} parts of {sum(parts)} ns")
    check("a late frame has a timeline of its threads", page.run("return document.querySelectorAll('#late-detail svg rect').length") > 3)


def check_zoom(page):
    shown = "[view.from, view.to]"
    page.run("showAll(); frameGraph.chart.canvas.focus()")
    page.keys("+")
    page.wait("view.to - view.from < whole * 0.51")
    same("a key zooms into the middle", page.run(f"return {shown}.map(Math.round)"), page.run("return [whole / 4, whole * 3 / 4].map(Math.round)"))
    page.keys("\ue014")  # the right arrow
    page.wait("view.from > whole * 0.3")
    check("an arrow key moves what is shown", True)
    page.keys("0")
    page.wait("view.from === 0 && view.to === whole")
    box = page.run("const box = frameGraph.chart.canvas.getBoundingClientRect(); return [box.left, box.top, box.width]")
    inner = page.run("return frameGraph.chart.inner")
    page.drag([(box[0] + 62 + inner * 0.5, box[1] + 50), (box[0] + 62 + inner * 0.6, box[1] + 60), (box[0] + 62 + inner * 0.75, box[1] + 60)])
    page.wait("view.to - view.from < whole * 0.4")
    got = page.run("return [view.from / whole, view.to / whole]")
    check("a mouse that is drawn over the graph zooms to what it covered", abs(got[0] - 0.5) < 0.02 and abs(got[1] - 0.75) < 0.02, got)
    check("the page says which part of the time it shows", page.wait("document.querySelector('#ruler .span').textContent.includes(' to ')"))
    page.run("showAll()")


def check_mouse(page):
    """The wheel, a drag with shift, a double click; and the keys that go from one late frame to the next."""
    page.run("showAll(); frameGraph.chart.canvas.scrollIntoView({ block: 'center', behavior: 'instant' }); frameGraph.chart.canvas.focus({ preventScroll: true })")
    left, top, inner = page.run("const box = frameGraph.chart.canvas.getBoundingClientRect(); return [box.left + LEFT, box.top + 60, frameGraph.chart.inner]")
    before = page.run("return frameGraph.chart.at(LEFT + frameGraph.chart.inner / 4)")
    page.wheel(left + inner / 4, top, -240)
    page.wait("view.to - view.from < whole * 0.9")
    same("the wheel zooms around what is below the mouse", page.run("return Math.abs(frameGraph.chart.at(LEFT + frameGraph.chart.inner / 4) - arguments[0]) < (view.to - view.from) / 100", before), True)
    page.wheel(left + inner / 4, top, 600)
    check("the wheel the other way zooms out", page.wait("view.from === 0 && view.to === whole"))
    page.run("document.activeElement.blur()")
    scrolled = page.run("return scrollY")
    page.wheel(left + inner / 4, top, 120)
    page.wait("scrollY !== arguments[0]", scrolled)
    same("the wheel over a picture that nobody has chosen scrolls the page", page.run("return [view.from, view.to === whole]"), [0, True])
    page.run("setView(whole * 0.4, whole * 0.6); frameGraph.chart.canvas.scrollIntoView({ block: 'center', behavior: 'instant' })")
    left, top = page.run("const box = frameGraph.chart.canvas.getBoundingClientRect(); return [box.left + LEFT, box.top + 60]")
    page.drag([(left + inner * 0.25, top), (left + inner * 0.4, top), (left + inner * 0.75, top)], holding="\ue008")
    got = page.run("return [view.from / whole, view.to / whole]")
    check("shift and drag move what is shown by as much as the mouse goes", abs(got[0] - 0.3) < 0.005 and abs(got[1] - 0.5) < 0.005, got)
    page.click(left + inner * 0.5, top, times=2)
    check("a double click shows all of the time", page.wait("view.from === 0 && view.to === whole"))
    page.run("showAll(); frameGraph.choose(null); frameGraph.chart.canvas.focus()")
    late, seen = page.run("return frameGraph.late.map((one) => one.frame)"), []
    for key in "nnpp":
        page.keys(key)
        seen.append(page.run("return [frameGraph.chosen.frame, document.querySelector('#late-detail h3').textContent]"))
    same("N goes to the next late frame and P to the one before, round and round", [frame for frame, _ in seen], [late[0], late[1], late[0], late[-1]])
    check("the late frame that N goes to is the one that is told of", all(words.startswith(f"Frame {frame}:") for frame, words in seen), seen)
    page.run("setView(0, whole / 50)")
    page.keys("p")
    check("P shows the time of a late frame that is not in sight", page.wait("view.from < frameGraph.chosen.at_ns && frameGraph.chosen.at_ns < view.to && view.from > 0"))
    page.run("showAll()")


def check_scheme(page):
    """What the desktop wishes, at once and later; the page's button has the last word."""
    for scheme in ("dark", "light"):
        page.prefers(scheme)
        open_page(page, "page.html")
        same(f"where the desktop is {scheme} the page begins {scheme}", page.run("return [document.documentElement.dataset.theme, colour('card')]"), [scheme, {"dark": "#161b22", "light": "#ffffff"}[scheme]])
    page.prefers("dark")
    check("where the desktop becomes dark so does the page", page.wait("document.documentElement.dataset.theme === 'dark'"))
    page.run("document.getElementById('theme').click()")
    page.prefers("light")
    page.prefers("dark")
    same("who chose light by the button keeps it when the desktop becomes dark", page.run("return [document.documentElement.dataset.theme, matchMedia('(prefers-color-scheme: dark)').matches]"), ["light", True])
    page.prefers("light")


def check_filter(page):
    page.run("const input = document.querySelector('#thread-table input'); input.value = 'cc1'; input.dispatchEvent(new Event('input'))")
    names = page.run("return [...document.querySelectorAll('#thread-table tbody tr td:first-child')].map((td) => td.textContent)")
    wanted = sum(row["comm"] == "cc1" for row in rows_of("tasks"))
    check("the filter leaves the threads of that name", set(names) == {"cc1"} and len(names) == wanted, names)
    page.run("const input = document.querySelector('#thread-table input'); input.value = ''; input.dispatchEvent(new Event('input'));"
             "[...document.querySelectorAll('#thread-table th button')].find((one) => one.textContent === 'longest wait').click()")
    waits = [row["wait_max_ns"][0] for row in cells(page, "#thread-table")]
    check("a click on a column's head sorts by it", waits == sorted(waits, reverse=True), waits[:5])


# Of every text that is shown, how far it stands out from what is behind it; the least first.
CONTRASTS = """const behind = (node) => { for (; node; node = node.parentElement) { const ground = getComputedStyle(node).backgroundColor;
    if (!/, 0\\)$|transparent|color\\(/.test(ground)) return ground; } return 'rgb(255, 255, 255)'; };
  return [...document.querySelectorAll('body *:not(script):not(svg *)')].filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()) && node.getClientRects().length)
    .map((node) => [contrast(getComputedStyle(node).color, behind(node)), node.tagName, node.className, node.textContent.slice(0, 40)]).sort((a, b) => a[0] - b[0])"""
GRAPHICS = ["frame", "early", "late", "ran", "waited", "slept", "target", "accent", "edge", "faint", "side-a", *("role-" + role for role in
            ("render", "input", "audio", "network", "compositor", "background", "cpu-bound", "unknown", "unwatched"))]


def check_contrast(page, theme):
    texts = page.run(CONTRASTS)
    check(f"every text of the {theme} page stands out from what is behind it by 4.5 to 1 or more", len(texts) > 200 and texts[0][0] >= 4.5, texts[:3])
    ground = page.run("return arguments[0].map((name) => [contrast(colour(name), colour('card')), name]).sort((a, b) => a[0] - b[0])", GRAPHICS)
    check(f"every colour of the {theme} page that means something stands out by 3 to 1 or more", ground[0][0] >= 3, ground[:3])
    drawn = page.run("return ['soft', 'target'].map((name) => contrast(colour(name), colour('card'))).concat(contrast(colour('card'), colour('waited')))")
    check(f"text in pictures of the {theme} page stands out by 4.5 to 1 or more", min(drawn) >= 4.5, drawn)
    print(f"# measured: {theme}: of {len(texts)} texts the least has {texts[0][0]:.2f} to 1, of {len(GRAPHICS)} colours {ground[0][0]:.2f} ({ground[0][1]})")


def check_keys_alone(page):
    """With the tabulator to everything that can be used, each with a name and a mark that it has the focus."""
    page.run("document.querySelector('.skip').focus(); document.querySelector('.skip').dataset.reached = 'yes'")
    wanted = page.run("return [...document.querySelectorAll('a[href], button, input, select, canvas, .scroll')].filter((one) => one.getClientRects().length && one.tabIndex >= 0).length")
    reached = []
    for _ in range(wanted + 20):
        page.keys("\ue004")
        seen = page.run("const one = document.activeElement; one.dataset.reached = 'yes'; return [one.tagName, getComputedStyle(one).outlineStyle]")
        reached.append(seen)
        if seen[0] == "BODY":
            break
    left = page.run("return [...document.querySelectorAll('a[href], button, input, select, canvas, .scroll')].filter((one) => one.getClientRects().length && one.tabIndex >= 0 && !one.dataset.reached)"
                    ".map((one) => one.outerHTML.slice(0, 80))")
    same("the tabulator reaches everything on the page that can be used", left, [])
    check("what has the focus by the tabulator has a mark around it", all(style != "none" for tag, style in reached if tag != "BODY"), reached)
    print(f"# measured: {len(reached)} steps of the tabulator, {wanted} things to be used")


def check_print(page):
    """From the dark page: paper is light, has no buttons, and all that a table hides on the screen."""
    page.run("addEventListener('beforeprint', () => { window.printed = [document.documentElement.dataset.theme, colour('card')]; })")
    page.pdf(os.path.join(log, "report.pdf"))
    same("paper is light, whatever the page is", page.run("return printed"), ["light", "#ffffff"])
    same("the page is dark again after it was printed", page.wait("document.documentElement.dataset.theme === 'dark' && 'dark'"), "dark")
    with open(os.path.join(log, "report.pdf"), "rb") as pdf:
        sheets = pdf.read().count(b"/Type /Page\n")
    check("a report of ten seconds is some sheets of paper", 2 <= sheets <= 12, sheets)
    print(f"# measured: {sheets} sheets of paper")


def check_example(page):
    open_page(page, "page.html")
    same("the browser has no complaint about the page", page.console(), [])
    check_numbers(page)
    check_waits(page)
    check_histogram(page)
    check_timers(page)
    check_late(page)
    check_zoom(page)
    check_mouse(page)
    check_filter(page)
    unlabelled = page.run("return [...document.querySelectorAll('canvas, section, button, input, select')].filter((one) => !one.closest('[hidden]') && "
                          "!(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent.trim() || one.closest('label'))).length")
    same("everything on the page that can be used or seen has a name for who hears it", unlabelled, 0)
    same("the page is no wider than its window", page.run("return document.documentElement.scrollWidth <= innerWidth"), True)
    check_contrast(page, "light")
    check_keys_alone(page)
    page.picture(os.path.join(log, "report-light.png"), whole=True)
    page.run("document.getElementById('theme').click()")
    same("the button makes the page dark", page.run("return document.documentElement.dataset.theme"), "dark")
    check_contrast(page, "dark")
    check_print(page)
    page.size(520, 900)
    page.wait("innerWidth <= 520")
    same("the page is no wider than a narrow window", page.run("return document.documentElement.scrollWidth <= innerWidth"), True)
    page.picture(os.path.join(log, "report-dark-narrow.png"), whole=True)
    same("the browser has no complaint after all that", page.console(), [])
    page.size(1280, 900)


def check_hostile(page):
    open_page(page, "hostile.html")
    same("the browser has no complaint about hostile names", page.console(), [])
    names = page.run("return [...document.querySelectorAll('#thread-table tbody tr td:first-child')].map((td) => td.textContent).sort()")
    same("names that are HTML show as what they are, and what turns text around as ?", names, sorted(row["comm"].replace("\u202e", "?") for row in rows_of("hostile")))
    check("a process called <script> is one of them, and one that would turn the line around", "<script>" in names and "?gnp.exe" in names, names)
    same("the page of hostile names has two scripts and none more", page.run("return document.scripts.length"), 2)
    frames = page.run("return [frameGraph.series.len, frameGraph.late.length]")
    print(f"# measured: {frames[0]} frames, {frames[1]} of them late, on the page of hostile names")
    same("the graph has every frame", frames[0], 7999)
    drawn = page.run("const from = performance.now(); for (let i = 0; i < 20; i++) frameGraph.chart.draw(); return (performance.now() - from) / 20")
    print(f"# measured: {drawn:.2f} ms for drawing the graph of them")


# How long a picture of all of the time takes, the best of five times twenty, and how many strokes of the pen.
DRAWN = """showAll(); const { chart } = frameGraph, real = chart.pen.fillRect; let best = Infinity, strokes = 0;
for (let k = 0; k < 5; k++) { const from = performance.now(); for (let i = 0; i < 20; i++) chart.draw(); best = Math.min(best, (performance.now() - from) / 20); }
chart.pen.fillRect = function (...at) { strokes++; real.apply(this, at); };
chart.draw();
delete chart.pen.fillRect;
return { frames: frameGraph.series.len, ms: best, strokes, pixels: chart.inner }"""


ROUNDS, PICTURES = 5, 12
ZOOMED = """const [pictures, round] = arguments; return new Promise((done) => { let left = pictures; const next = () => { if (!left--) { done(); return; }
  const part = 0.1 + left / (pictures + 2), at = whole * (0.3 + 0.08 * round); setView(at - whole * part / 2, at + whole * part / 2); requestAnimationFrame(next); }; next(); })"""


def check_many(page):
    seen = {}
    for name in ("few", "many"):
        open_page(page, name + ".html")
        seen[name] = page.run(DRAWN)
    few, many = seen["few"], seen["many"]
    same("the browser has no complaint about a page of 100,000 frames", [page.console(), many["frames"], few["frames"]], [[], 99999, 999])
    print(f"# measured: a picture of {few['frames']} frames takes {few['ms']:.3f} ms and {few['strokes']} strokes, of {many['frames']} {many['ms']:.3f} ms and {many['strokes']}")
    check("a picture of 100,000 frames takes at most a quarter of a hundred times as long as one of 1,000", many["ms"] < 25 * max(few["ms"], 0.02), seen)
    check("a picture of 100,000 frames takes no more strokes than some for each pixel", many["strokes"] < 4 * many["pixels"], seen)
    grids = page.run("return charts.map((chart) => { let strokes = 0; const count = {}; for (const name of ['fillRect', 'drawImage']) { const real = chart.pen[name]; chart.pen[name] = function (...at) { strokes++; real.apply(this, at); }; }"
                     "chart.draw(); delete chart.pen.fillRect; delete chart.pen.drawImage; return [strokes, chart.label]; })")
    check("every picture of the page takes no more strokes than some for each pixel", max(strokes for strokes, _ in grids) < 4 * many["pixels"], grids)
    spent = []
    for part in range(ROUNDS):
        before_ms = page.spent_ms()
        page.run(ZOOMED, PICTURES, part)
        spent.append((page.spent_ms() - before_ms) / PICTURES)
    middle = sorted(spent)[ROUNDS // 2]
    print(f"# measured: zooming in 100,000 frames, the page's thread takes {middle:.1f} ms of CPU time a picture (the median of {ROUNDS} rounds, {min(spent):.1f} to {max(spent):.1f}), of 16.7 at 60 a second")
    check("a picture of 100,000 frames takes less of a CPU's time than 60 pictures a second leave", middle < 1000 / 60, spent)


def check_cuda(page):
    open_page(page, "cuda.html")
    same("the browser has no complaint about a page of CUDA", page.console(), [])
    calls = {row["function"]: row for row in rows_of("cuda") if row["record"] == "cuda_calls"}
    names = page.run("return [...document.querySelectorAll('#cuda-table tbody tr td:first-child')].map((td) => td.textContent)")
    rows = cells(page, "#cuda-table")
    same("calls on the page are those of 'tactus cuda --json'", {name: {field: value[0] for field, value in row.items()} for name, row in zip(names, rows)},
         {name: {field: row[field] for field in rows[0]} for name, row in calls.items()})


def check_cuda_parts(page):
    """Launches by kernel, copies, waiting for the GPU and where time went, of a page of training steps."""
    rows = collections.defaultdict(list)
    for row in rows_of("steps-cuda"):
        rows[row["record"]].append(row)
    tiles = page.run("return Object.fromEntries([...document.querySelectorAll('#cuda .tile [data-field]')].map((one) => [one.dataset.field, Number(one.dataset.value)]))")
    waits = sum(row["total_ns"] for row in rows["cuda_calls"] if row["class"] == "wait")
    same("launches, calls, waiting and errors on the page are those of 'tactus cuda --json'", tiles,
         {"launches": sum(row["launches"] for row in rows["cuda_launches"]), "calls": sum(row["calls"] for row in rows["cuda_calls"]), "sync_ns": waits,
          "wait_ns": sum(row["wait_ns"] for row in rows["cuda_calls"]), "errors": sum(row["count"] for row in rows["cuda_errors"])})
    bars = page.run("return [...document.querySelectorAll('#cuda .bars')].map((one) => [...one.querySelectorAll('.name')].map((name, i) => [name.textContent, Number(one.querySelectorAll('[data-value]')[i].dataset.value)]))")
    same("launches by kernel on the page are those of 'tactus cuda --json'", bars[0], [[row["kernel"], row["launches"]] for row in rows["cuda_launches"]][:12])
    same("where the time of calls goes is that of 'tactus cuda --json'", bars[1], [[row["layer"], row["self_ns"]] for row in rows["cuda_layer"]])
    copies = [{field: value[0] for field, value in row.items()} for row in cells(page, "#copy-table")]
    same("copies on the page are those of 'tactus cuda --json'", copies, [{field: row[field] for field in copies[0]} for row in rows["cuda_copies"]])
    sums = page.run("return ['launches', 'copies', 'sync_ns'].map((field) => sum(counts[field]))")
    same("launches, copies and waiting over time add up to those of 'tactus cuda --json'", sums, [tiles["launches"], sum(row["count"] for row in rows["cuda_copies"]), waits])
    legends = page.run("return [...document.querySelectorAll('#cuda .legend li')].map((one) => one.textContent)")
    same("pictures of launches, copies and waiting have those figures in words", legends, [f"launches: {sums[0]:,}", f"copies: {sums[1]:,}", f"part of the time that a thread waited for the GPU: {time_words(waits)}"])
    print(f"# measured: {sums[0]} launches, {sums[1]} copies, {waits} ns of waiting for the GPU")


def check_gpu_and_acts(page):
    open_page(page, "every-kind.html")
    same("the browser has no complaint about a page of every kind of event", page.console(), [])
    rows = collections.defaultdict(list)
    for row in rows_of("gpu"):
        rows[row["record"]].append(row)
    for record, table in (("submits", "submit"), ("gpu_ring", "ring"), ("fences", "fence"), ("gpu_memory", "memory")):
        shown = [{field: value[0] for field, value in row.items()} for row in cells(page, f"#{table}-table")]
        same(f"{table}s of GPUs on the page are those of 'tactus gpu --json'", shown, [{field: row[field] for field in shown[0]} for row in rows[record]] if shown else "some")
    same("submits over time add up to those of 'tactus gpu --json'", page.run("return sum(counts.submits)"), sum(row["submits"] for row in rows["submits"]))
    decisions = collections.Counter(row["what"] for row in rows_of("decisions") if row["event"] == "decision")
    effects = [row for row in rows_of("decisions") if row["event"] == "effect"]
    legends = page.run("return [...document.querySelectorAll('#acts .legend li')].map((one) => one.textContent.split(': '))")
    same("what tactus did on the page is what the recording's decisions are, kind by kind", sorted(int(count) for _, count in legends), sorted(decisions.values()))
    shown = [{field: value[0] for field, value in row.items()} for row in cells(page, "#effect-table")]
    same("what acting did to others on the page is what the recording has of it", shown,
         [{"at_ns": row["time_ns"] - page.run("return head.from_ns"), "acted_p99_ns": row["acted_p99_ns"], "held_p99_ns": row["held_p99_ns"]} for row in effects])
    print(f"# measured: {dict(decisions)} decisions, {len(effects)} effects, {[len(one) for one in rows.values()]} rows of GPUs")


def check_steps(page):
    open_page(page, "steps.html")
    same("the browser has no complaint about a page of training steps", page.console(), [])
    check_cuda_parts(page)
    row = [row for row in rows_of("steps") if row["record"] == "cuda_steps"][0]
    tiles = page.run("return Object.fromEntries([...document.querySelectorAll('[data-steps] [data-field]')].map((one) => [one.dataset.field, Number(one.dataset.value)]))")
    same("figures of steps on the page are those of 'tactus cuda --steps --json'", tiles, {field: row[field] for field in tiles})
    slow = {row["step"]: row for row in rows_of("steps") if row["record"] == "cuda_slow_step"}
    shown = page.run("return [...document.querySelectorAll('#step-table tbody tr')].map((tr) => [Number(tr.querySelector('[data-field=step]').dataset.value), tr.querySelector('td.long').textContent])")
    same("slow steps on the page say why as 'tactus cuda --steps' does", sorted(shown), sorted([step, row["words"]] for step, row in slow.items()))
    verdict = page.run("return document.querySelector('#verdict .sentence').textContent")
    check("the verdict on a training loop says how many steps were slow", verdict.startswith(f"{row['slow']} of {row['steps']} training steps of {row['comm']} ("), verdict)
    most = page.run("return Math.max(...counts.sync_ns) / binNs")
    check("a thread waits for the GPU for no more of a stretch of time than that is long", 0 < most <= 1, most)
    wide = page.run("return [...document.querySelectorAll('.stack svg')].map((one) => one.getBoundingClientRect().width)")
    check("what a step goes into is drawn in its shares", len(wide) > 2 and min(wide) >= 0 and max(wide) > 100, wide)
    drawn, all_ns = page.run("const row = all('cuda_steps')[0]; return [sum(stepParts(row).map(([ns]) => ns)), row.ran_ns + row.slept_ns + row.cpu_wait_ns + row.data_ns + row.lock_ns]")
    check("what is drawn of a step counts no moment twice", drawn <= all_ns, (drawn, all_ns))
    page.picture(os.path.join(log, "report-steps.png"), whole=True)


def check_clicks(page):
    open_page(page, "clicks.html")
    same("the browser has no complaint about a page of clicks", page.console(), [])
    rows = {row["comm"]: row for row in rows_of("clicks") if row["record"] == "input_to_frame"}
    names = page.run("return [...document.querySelectorAll('#click-table tbody tr td:first-child')].map((td) => td.textContent)")
    shown = cells(page, "#click-table")
    same("clicks on the page are those of 'tactus input --to-frame --json'", {name: {field: value[0] for field, value in row.items()} for name, row in zip(names, shown)},
         {name: {field: row[field] for field in shown[0]} for name, row in rows.items()})
    same("the page has a point for each click of the recording", page.run("return all('input_frame').length"), sum(row["record"] == "input_frame" for row in rows_of("clicks")))


def check_compare(page):
    open_page(page, "compare.html")
    same("the browser has no complaint about a page of a comparison", page.console(), [])
    rows = [row for row in rows_of("compare") if row["record"] == "compare"]
    verdict = [row for row in rows_of("compare") if row["record"] == "compare_verdict"][0]
    got = page.run("const one = document.querySelector('[data-verdict]'); return [one.dataset.verdict, one.textContent]")
    same("the page's verdict is that of 'tactus compare'", [got[0], got[1].lower().replace("\u00a0", " ")], [verdict["verdict"], verdict["words"].lower() + "."])
    shown = page.run("return [...document.querySelectorAll('#figure-table tbody tr')].map((tr) => ['a', 'b', 'difference'].map((field) => tr.querySelector(`[data-field=${field}]`).dataset.value))")
    same("figures on the page are those of 'tactus compare --json'", [[float(value) if value else None for value in row] for row in shown], [[row["a"], row["b"], row["difference"]] for row in rows])
    curves = page.run("return Object.fromEntries(all('compare_curve').map((curve) => [curve.side + ' ' + curve.of + ' ' + (curve.name ?? ''), [0.5, 0.99].map((part) => {"
                      "let left = part * curve.total; return curve.times_ns[curve.counts.findIndex((count) => (left -= count) <= 0)]; })]))")
    off = [(row["figure"], row["name"], side, curves[f"{side} {kind} {row['name'] or ''}"][at], row[side]) for row in rows for kind in ("frames", "waits") for side in ("a", "b")
           for at, part in enumerate(("p50", "p99")) if row["figure"] == f"{kind[:-1]}_{part}" and row["of"] in ("program", "all", "tier") and row[side] is not None
           and abs(curves[f"{side} {kind} {row['name'] or ''}"][at] - row[side]) > 0.1 * row[side]]
    same("both curves have the percentiles that 'tactus compare' prints", off, [])
    totals = page.run("return all('compare_curve').map((curve) => [curve.of + ' ' + (curve.name ?? ''), curve.total])")
    enough = [name for name, _ in totals if sum(other == name and total >= 20 for other, total in totals) == 2]
    same("there is a line for each side of each curve that has twenty on both", [page.run("return document.querySelectorAll('.curve path').length"), len(enough) >= 4], [len(enough), True])
    few = page.run("return document.getElementById('curves').textContent")
    check("a curve that has too few on a side is said to be one", len(enough) == len(totals) or "Too few on a side for a curve" in few, few)
    check("the page of a comparison says what each side is", "late-frames.tactus@0s..4s: 4.0" in page.run("return document.getElementById('verdict').textContent"), page.run("return document.getElementById('verdict').textContent"))
    page.picture(os.path.join(log, "compare.png"), whole=True)
    page.size(520, 900)
    page.wait("innerWidth <= 520")
    same("the page of a comparison is no wider than a narrow window", page.run("return document.documentElement.scrollWidth <= innerWidth"), True)
    page.size(1280, 900)
    open_page(page, "compare-hostile.html")
    same("the browser has no complaint about hostile names in a comparison", page.console(), [])
    same("a file that is called <img> is text in a comparison", page.run("return [document.images.length, document.getElementById('verdict').textContent.includes('<img src=x>.tac'), document.scripts.length]"), [0, True, 2])


with Browser(scratch) as browser:
    check_example(browser)
    check_hostile(browser)
    check_many(browser)
    check_scheme(browser)
    check_cuda(browser)
    check_gpu_and_acts(browser)
    check_steps(browser)
    check_clicks(browser)
    check_compare(browser)
