/* Frames: the graph, the late ones with what their time went into, how long they took. */
const BLAMES = {
  cpu: 'waited for a CPU', itself: 'ran longer itself', work: 'waited for another thread', sleep: 'slept', gpu: "was in the GPU's driver", unknown: 'not known',
};

/* The series of a process: when each frame came and how long it took, in nanoseconds. */
function seriesOf(record) {
  const len = record.took_us.length, at = new Float64Array(len), took = new Float64Array(len), late = new Uint8Array(len), early = new Uint8Array(len), numbers = new Float64Array(len);
  let now = 0, from = 0;
  for (let i = 0; i < len; i++) {
    now += record.after_us[i];
    at[i] = now * 1000;
    took[i] = record.took_us[i] * 1000;
  }
  for (const i of record.late) late[i] = 1;
  for (const i of record.unjudged) early[i] = 1;
  for (let k = 0; k < record.numbers.length; k += 2) {
    const end = k + 2 < record.numbers.length ? record.numbers[k + 2] : len;
    for (from = record.numbers[k]; from < end; from++) numbers[from] = record.numbers[k + 1] + from - record.numbers[k];
  }
  const series = { pid: record.pid, each: record.each, len, at, took, late, early, numbers, counts: record.counts || [], step: record.step_ns || 1 };
  return { ...series, coarse: [coarser(series, 8), coarser(series, 64)] };
}
/* Of so many frames in a row when the last came, the longest, and the longest that was late. */
function coarser(series, by) {
  const len = Math.ceil(series.len / by), at = new Float64Array(len), took = new Float64Array(len), late = new Float64Array(len);
  for (let i = 0; i < series.len; i++) {
    const to = Math.floor(i / by);
    at[to] = series.at[i];
    if (series.took[i] > took[to]) took[to] = series.took[i];
    if (series.late[i] && series.took[i] > late[to]) late[to] = series.took[i];
  }
  return { by, at, took, late };
}
/* Calls `column` with each column of pixels, its longest frame and its longest late one, from as few numbers as do. A time lies at origin + ns * perNs. */
function columnsOf(series, first, last, wide, [origin, perNs], column) {
  const coarse = series.coarse.filter((one) => (last - first) / one.by > wide * 3).pop();
  const [from, to] = coarse ? [Math.floor(first / coarse.by), Math.ceil(last / coarse.by)] : [first, last], { took, at: when } = coarse || series;
  let at = -1, longest = 0, late = 0;
  for (let i = from; i < to; i++) {
    const here = Math.floor(origin + when[i] * perNs), lateHere = coarse ? coarse.late[i] : series.late[i] && took[i];
    if (here !== at) {
      if (at >= 0) column(at, longest, late);
      at = here;
      longest = late = 0;
    }
    if (took[i] > longest) longest = took[i];
    if (lateHere > late) late = lateHere;
  }
  if (at >= 0) column(at, longest, late);
}
/* The first whose end is at or after that time. */
function find(series, ns) {
  let low = 0, high = series.len;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.at[middle] < ns) low = middle + 1; else high = middle;
  }
  return low;
}

let allSeries = [], lateFrames = [], presenters = [];
function readFrames() {
  allSeries = all('report_frames').map(seriesOf);
  lateFrames = all('report_late');
  presenters = all('frames');
}

class FrameGraph {
  constructor(host, detail) {
    this.detail = detail;
    this.chosen = null;
    this.chart = new Chart(host, {
      label: 'Frame times over time; late frames are red and have a mark below them. N and P go to the next late frame and the one before.', height: 230,
      paint: (pen) => this.paint(pen), under: (pen) => this.under(pen), over: (pen) => this.over(pen), hover: (x, y) => this.hover(x, y), click: (x) => this.click(x),
      keys: { n: () => this.next(1), p: () => this.next(-1), N: () => this.next(1), P: () => this.next(-1) },
    });
  }
  show(pid) {
    this.series = allSeries.find((series) => series.pid === pid);
    this.row = presenters.find((row) => row.pid === pid);
    this.late = lateFrames.filter((frame) => frame.pid === pid);
    this.lateOnes = [...this.series.late.keys()].filter((i) => this.series.late[i]);
    this.earlyOnes = [...this.series.early.keys()].filter((i) => this.series.early[i]);
    this.top = this.scale(kept.everything);
    /* Until somebody chooses, the one that was latest. */
    this.choose((kept.late === null ? this.late.slice().sort((a, b) => b.late_ns - a.late_ns)[0] : this.late.find((frame) => frame.frame === kept.late)) || null);
    if (!this.late.length) kept.late = null;
    redraw();
  }
  /* Where one frame of many is ten times as long, the others stay to be seen: it is cut, and marked. */
  scale(everything) {
    const { p99_ns, p50_ns, max_ns, target_ns } = this.row;
    const wanted = everything ? max_ns : Math.min(max_ns, Math.max(p99_ns * 1.25, p50_ns * 3, (target_ns || 0) * 3));
    this.everything = kept.everything = everything;
    return wanted * 1.06 || 1;
  }
  y(ns) { return this.chart.deep - Math.min(ns / this.top, 1) * (this.chart.deep - 8); }
  under(pen) {
    const step = steps(this.top, 5), values = [];
    for (let value = 0; value <= this.top; value += step) values.push(value);
    this.chart.grid(pen, values, (ns) => this.y(ns), tick);
  }
  paint(pen) {
    const { chart, series } = this, first = Math.max(0, find(series, view.from) - 1), last = Math.min(series.len, find(series, view.to) + 2);
    const dense = last - first > chart.inner / 2;
    if (this.row.target_ns && this.row.target_ns < this.top) {
      pen.fillStyle = colour('target');
      for (let x = LEFT; x < LEFT + chart.inner; x += 8) pen.fillRect(x, Math.round(this.y(this.row.target_ns)), 4, 1);
    }
    if (dense) this.paintColumns(pen, first, last);
    else for (let i = first; i < last; i++) this.paintBar(pen, chart.x(series.at[i] - series.took[i]), chart.x(series.at[i]), i);
    if (this.chosen) {
      const from = chart.x(this.chosen.at_ns - this.chosen.interval_ns), to = chart.x(this.chosen.at_ns);
      pen.strokeStyle = colour('ink');
      pen.lineWidth = 1.5;
      pen.strokeRect(Math.min(from, to - 3) - 1, this.y(this.chosen.interval_ns) - 3, Math.max(4, to - from) + 2, chart.deep);
    }
  }
  paintBar(pen, from, to, i) {
    const { series, chart } = this, gap = to - from > 4 ? 1 : 0, y = this.y(series.took[i]);
    pen.fillStyle = colour(series.late[i] ? 'late' : series.early[i] ? 'early' : 'frame');
    pen.fillRect(from, y, Math.max(1, to - from - gap), chart.deep - y);
    if (series.took[i] > this.top) this.paintCut(pen, (from + to) / 2);
  }
  /* The longest of each column of pixels; red where one is late. */
  paintColumns(pen, first, last) {
    const { series, chart } = this;
    const red = [], cut = [];
    pen.fillStyle = colour('frame');
    columnsOf(series, first, last, chart.inner, chart.scale(), (column, longest, late) => {
      pen.fillRect(column, this.y(longest), 1, chart.deep - this.y(longest));
      if (late) red.push([column, this.y(late)]);
      if (longest > this.top) cut.push(column);
    });
    const early = this.earlyOnes.filter((i) => i >= first && i < last);
    if (early.length < chart.inner / 4) for (const i of early) this.paintBar(pen, chart.x(series.at[i] - series.took[i]), chart.x(series.at[i]), i);
    pen.fillStyle = colour('late');
    for (const [column, y] of red) pen.fillRect(column - 0.25, y, 1.5, chart.deep - y);
    for (const column of cut) this.paintCut(pen, column);
  }
  /* A mark below each late one: not everybody tells red from blue. */
  over(pen) {
    const { chart, series } = this, first = Math.max(0, find(series, view.from) - 1), last = Math.min(series.len, find(series, view.to) + 2);
    let before = -9;
    pen.fillStyle = colour('late');
    pen.beginPath();
    for (const i of this.lateOnes) {
      if (i < first || i >= last) continue;
      const x = Math.min(Math.max(chart.x(series.at[i] - series.took[i] / 2), LEFT), chart.width - RIGHT);
      if (x - before < 1.5) continue;
      before = x;
      pen.moveTo(x, chart.deep + 1); pen.lineTo(x - 4, chart.deep + 7); pen.lineTo(x + 4, chart.deep + 7);
    }
    pen.fill();
  }
  paintCut(pen, x) {
    pen.fillStyle = colour('card');
    pen.beginPath();
    pen.moveTo(x - 5, 16); pen.lineTo(x + 5, 12); pen.lineTo(x + 5, 15); pen.lineTo(x - 5, 19);
    pen.fill();
  }
  nearest(x) {
    const { series, chart } = this, at = chart.at(x), i = Math.min(find(series, at), series.len - 1);
    let best = i;
    for (let k = Math.max(0, find(series, chart.at(x - 5)) - 1); k < series.len && chart.x(series.at[k] - series.took[k]) < x + 5; k++) {
      if (series.late[k] > series.late[best] || (series.late[k] === series.late[best] && series.late[k] && series.took[k] > series.took[best])) best = k;
    }
    return best;
  }
  lateAt(i) { return this.late.find((frame) => Math.abs(frame.at_ns - this.series.at[i]) < 2000); }
  hover(x) {
    const { series } = this, i = this.nearest(x);
    if (i < 0) return '';
    const frame = series.late[i] && this.lateAt(i), of = series.each > 1 ? `the longest of ${series.each} frames` : `frame ${series.numbers[i]}`;
    return `${of} at ${seconds(series.at[i])}: ${time(series.took[i])}` + (frame ? `, ${time(frame.late_ns)} late\n${frame.why}` : series.late[i] ? ', late' : series.early[i] ? '\none of the first: how often frames come was not known yet, so it is not called late' : '');
  }
  click(x) { const i = this.nearest(x); if (i >= 0) this.choose(this.series.late[i] ? this.lateAt(i) || null : null); }
  next(by) {
    if (!this.late.length) return;
    const at = this.chosen ? this.late.indexOf(this.chosen) : by > 0 ? -1 : 0;
    this.choose(this.late[(at + by + this.late.length) % this.late.length], true);
  }
  choose(frame, moves) {
    this.chosen = frame;
    kept.late = frame ? frame.frame : 0;
    if (frame && moves && (frame.at_ns - frame.interval_ns < view.from || frame.at_ns > view.to)) {
      const half = (view.to - view.from) / 2;
      setView(frame.at_ns - half, frame.at_ns + half);
    }
    showLate(this.detail, frame, this);
    redraw();
  }
}

/* Told apart by height as well as by colour. */
const TALL = { waited: 18, ran: 11, slept: 5 };
const STEP_WORDS = { ran: 'ran', waited: 'waited for CPU', slept: 'slept', unknown: 'is not known of' };
function stepWords([from, to, kind, , name, cpu, other, otherName]) {
  const span = time((to - from) * 1000), who = nameOf(name);
  if (kind === 'waited') return `${who} waited ${span} for CPU ${cpu}` + (other ? ` behind ${nameOf(otherName)} [${other}]` : '');
  if (kind === 'ran') return `${who} ran ${span} on CPU ${cpu}`;
  if (kind === 'slept') return `${who} slept ${span}` + (other ? ` until ${nameOf(otherName)} [${other}], a timer or a device woke it` : ', until a timer or a device woke it');
  return `nothing is known of ${span}`;
}

/* The threads on the path of a late frame, each a lane, from the frame before it to this one. */
function pathPicture(frame, width) {
  const lanes = [], key = (step) => step[3] + ' ' + step[4];
  for (const step of frame.steps) if (!lanes.some((lane) => lane.key === key(step))) lanes.push({ key: key(step), step });
  const left = width < 560 ? 96 : 170, row = 24, deep = lanes.length * row, span = frame.interval_ns / 1000, x = (us) => left + us / span * (width - left - 12);
  const due = frame.target_ns / 1000, above = due && due < span ? 14 : 0;
  const picture = svg('svg', { viewBox: `0 ${-above} ${width} ${deep + 26 + above}`, height: deep + 26 + above, role: 'img', 'aria-label': `What frame ${frame.frame} waited for: ` + frame.why });
  const grain = steps(span, width / 110);
  for (let at = 0; at <= span; at += grain) {
    picture.append(svg('line', { x1: x(at), x2: x(at), y1: 0, y2: deep, stroke: 'var(--grid)' }),
      svg('text', { x: x(at), y: deep + 16, 'text-anchor': 'middle', fill: 'var(--soft)', 'font-size': 11 }, tick(at * 1000)));
  }
  lanes.forEach((lane, i) => {
    const text = `${nameOf(lane.step[4])} [${lane.step[3]}]`, room = Math.floor((left - 10) / 6.6);
    picture.append(svg('text', { x: left - 8, y: i * row + 16, 'text-anchor': 'end', fill: 'var(--ink)', 'font-size': 12 },
      text.length > room ? text.slice(0, room - 1) + '…' : text, svg('title', {}, text)));
    picture.append(svg('line', { x1: left, x2: width - 12, y1: (i + 1) * row - 0.5, y2: (i + 1) * row - 0.5, stroke: 'var(--grid)' }));
  });
  for (const step of frame.steps) {
    const i = lanes.findIndex((lane) => lane.key === key(step)), tall = TALL[step[2]] || 5;
    const wide = Math.max(1, x(step[1]) - x(step[0]));
    picture.append(svg('rect', { x: x(step[0]), y: i * row + (row - tall) / 2, width: wide, height: tall, rx: wide > 4 ? 2 : 0,
      fill: `var(--${step[2] === 'unknown' ? 'step-unknown' : step[2]})` }, svg('title', {}, stepWords(step))));
    if (step[2] === 'waited' && step[6] && wide > 74) {
      const text = 'behind ' + nameOf(step[7]);
      if (text.length * 6.2 < wide) picture.append(svg('text', { x: x(step[0]) + 6, y: i * row + 16, fill: 'var(--card)', 'font-size': 11, 'font-weight': 600, 'pointer-events': 'none' }, text));
    }
  }
  if (above) {
    picture.append(svg('line', { x1: x(due), x2: x(due), y1: -4, y2: deep + 4, stroke: 'var(--target)', 'stroke-dasharray': '4 3', 'stroke-width': 1.5 }, svg('title', {}, 'when it was due')),
      svg('text', { x: x(due), y: -5, 'text-anchor': 'middle', fill: 'var(--target)', 'font-size': 11 }, 'due'));
  }
  return picture;
}

/* All of a late frame's time by what it went into: its cause first, then the longest. */
function partsTable(frame) {
  const rows = frame.parts.map(([kind, ns, tid, name, other, otherName]) => [STEP_WORDS[kind] || kind, `${nameOf(name)} [${tid}]`,
    !other ? '' : kind === 'waited' ? `behind ${nameOf(otherName)} [${other}]` : `until ${nameOf(otherName)} [${other}], a timer or a device woke it`, ns, kind]);
  if (frame.rest_ns) rows.push(['in smaller parts', '', '', frame.rest_ns, 'unknown']);
  return el('table', { id: 'late-parts' }, el('caption', {}, 'What all of its time went into'), el('tbody', {}, rows.map(([what, who, because, ns, kind]) =>
    el('tr', {}, el('th', { scope: 'row', class: 'text' }, who), el('td', { class: 'text' }, what), el('td', { class: 'text' }, because),
      el('td', { 'data-field': 'part_ns', 'data-value': ns }, time(ns)), el('td', { class: 'of' }, share(ns, frame.interval_ns)),
      el('td', { class: 'part' }, svg('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        svg('rect', { width: Math.max(0.5, 100 * ns / frame.interval_ns), height: 10, fill: `var(--${kind === 'unknown' ? 'step-unknown' : kind})` })))))));
}

function showLate(host, frame, graph) {
  host.replaceChildren();
  host.hidden = !graph.late.length;
  if (!frame) {
    if (graph.late.length) host.append(el('p', { class: 'lead' }, `Click a red frame, or press N in the graph: it says why it was late. `,
      el('button', { type: 'button', id: 'first-late', click: () => graph.next(1) }, 'Show the first late frame')));
    return;
  }
  const at = graph.late.indexOf(frame), picture = el('div', { class: 'path' });
  const box = el('div', { class: 'detail', id: 'late-detail' },
    el('div', { class: 'bar' }, el('h3', {}, `Frame ${frame.frame}: ${time(frame.interval_ns)}, ${time(frame.late_ns)} late`), el('span', { class: 'grow' }),
      el('span', { class: 'turn' }, el('button', { type: 'button', click: () => graph.next(-1), 'aria-label': 'The late frame before it' }, '◂'), el('span', {}, `${at + 1} of ${graph.late.length}`),
        el('button', { type: 'button', click: () => graph.next(1), 'aria-label': 'The next late frame' }, '▸')),
      el('button', { type: 'button', click: () => setView(frame.at_ns - frame.interval_ns * 2, frame.at_ns + frame.interval_ns) }, 'Zoom to it'),
      el('button', { type: 'button', click: () => graph.choose(null) }, 'Close')),
    el('p', { class: 'reason', 'data-why': frame.frame }, together(frame.why) + '.'), picture,
    legend([['waited', 'could run and waited for a CPU', 10], ['ran', 'ran', 6], ['slept', 'slept', 3], ...(frame.target_ns ? [['target', 'when it was due']] : [])]),
    el('div', { class: 'wide' }, partsTable(frame)),
    frame.not_shown_ns ? el('p', { class: 'lead' }, `${time(frame.not_shown_ns)} of it, in many short steps, are not shown.`) : null);
  host.append(box);
  picture.append(pathPicture(frame, Math.max(320, picture.clientWidth || host.clientWidth - 30)));
}

function histogram(series, row) {
  const width = 420, height = 170, left = 44, foot = 26, counts = series.counts, most = Math.max(1, ...counts), wide = (width - left - 6) / counts.length;
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `How many frames took how long: half under ${time(row.p50_ns)}, one in a hundred over ${time(row.p99_ns)}.` });
  const y = (count) => (height - foot) * (1 - Math.log1p(count) / Math.log1p(most) * 0.94);
  for (let value = 1; value <= most; value *= 10) {
    picture.append(svg('line', { x1: left, x2: width - 6, y1: y(value), y2: y(value), stroke: 'var(--grid)' }),
      svg('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end', 'font-size': 10, fill: 'var(--soft)' }, number(value)));
  }
  counts.forEach((count, i) => {
    if (!count) return;
    const last = i === counts.length - 1, words = last ? `over ${time(i * series.step)}` : `${time(i * series.step)} to ${time((i + 1) * series.step)}`;
    picture.append(svg('rect', { x: left + i * wide + 0.5, y: y(count), width: Math.max(1, wide - 1), height: height - foot - y(count),
      fill: 'var(--frame)', rx: 1, 'data-bin': i, 'data-value': count }, svg('title', {}, `${number(count)} frames took ${words}`)));
  });
  const span = series.step * counts.length, x = (ns) => left + Math.min(ns / span, 1) * (width - left - 6);
  [['p50', row.p50_ns], ['p99', row.p99_ns]].forEach(([name, ns]) => picture.append(
    svg('line', { x1: x(ns), x2: x(ns), y1: 2, y2: height - foot, stroke: 'var(--soft)', 'stroke-dasharray': '3 3' }),
    svg('text', { x: x(ns) + 3, y: name === 'p99' && x(ns) - x(row.p50_ns) < 26 ? 22 : 10, 'font-size': 10, fill: 'var(--soft)' }, name)));
  const grain = steps(span, 5), most_ns = series.step * (counts.length - 1);
  if (counts[counts.length - 1]) picture.append(svg('text', { x: width - 6, y: height - 9, 'text-anchor': 'end', 'font-size': 10, fill: 'var(--ink)' }, 'over ' + tick(most_ns)));
  for (let at = 0; at < span && (x(at) < width - 70 || !counts[counts.length - 1]); at += grain) picture.append(svg('text', { x: x(at), y: height - 9, 'text-anchor': 'middle', 'font-size': 10, fill: 'var(--soft)' }, tick(at)));
  return picture;
}

const PERCENTILES = [['Half are under', 'p50_ns'], ['95 of 100 are under', 'p95_ns'], ['99 of 100 are under', 'p99_ns'], ['999 of 1000 are under', 'p999_ns'], ['The longest', 'max_ns']];
function frameNumbers(row) {
  const causes = all('report_cause').filter((cause) => cause.pid === row.pid);
  return [
    el('div', { class: 'tiles', id: 'frame-tiles' }, tile('frames', 'frames', row.frames, number(row.frames)), tile(together(`late, ${share(row.late, row.frames)}`), 'late', row.late, number(row.late), row.late),
      tile('frames a second', 'fps', row.fps, row.fps.toFixed(1)), tile('a second in the slowest 1\u00a0%', 'low1_fps', row.low1_fps, row.low1_fps.toFixed(1)),
      row.target_ns ? tile('due every', 'target_ns', row.target_ns, time(row.target_ns)) : null, tile('periods without a frame', 'dropped', row.dropped, number(row.dropped), row.dropped)),
    (host, series) => {
      const causeRows = causes.map((cause) => ({ ...cause, who: cause.name > 1 ? nameOf(cause.name) : '', what: BLAMES[cause.blame] || cause.blame }));
      host.append(el('div', { class: 'halves' },
        el('div', { class: 'hist' }, el('h3', {}, 'How long frames took (counts are logarithmic)'), histogram(series, row)),
        el('div', {}, el('h3', {}, 'Percentiles'), el('table', { id: 'percentiles' }, el('tbody', {}, PERCENTILES.map(([label, field]) =>
          el('tr', {}, el('th', { class: 'text', scope: 'row' }, label), el('td', { 'data-field': field, 'data-value': row[field] }, time(row[field])))))),
        causes.length ? [el('h3', {}, 'Late because'), makeTable({ label: 'Causes of late frames', rows: causeRows, low: true, columns: [
          ['what', 'the frame', 'text'], ['who', 'behind or for', 'text'], ['frames', 'frames', 'count'], ['late_ns', 'late in all', 'time']] })] : null)));
    }];
}

function makeFrames() {
  if (!presenters.length || !allSeries.length) return;
  const section = shown('frames'), chosen = presenters.filter((row) => allSeries.some((series) => series.pid === row.pid)).sort((a, b) => b.late - a.late || b.frames - a.frames);
  const tiles = el('div'), graphBox = el('div'), legendBox = el('div'), detail = el('div', { 'aria-live': 'polite' }), below = el('div'), note = el('p', { class: 'lead' });
  const pick = el('select', { 'aria-label': 'Program whose frames are shown', change: () => show(Number(pick.value)) },
    chosen.map((row) => el('option', { value: row.pid }, `${row.comm} [${row.pid}]: ${number(row.frames)} frames, ${number(row.late)} late`)));
  const scale = el('button', { type: 'button', 'aria-pressed': 'false', click: () => {
    graph.top = graph.scale(!graph.everything);
    scale.setAttribute('aria-pressed', graph.everything);
    redraw();
  } }, 'Whole height');
  section.append(tiles, el('div', { class: 'bar' }, chosen.length > 1 ? pick : el('strong', {}, `${chosen[0].comm} [${chosen[0].pid}]`), el('span', { class: 'grow' }), scale), graphBox,
    legendBox, note, detail, below);
  const graph = new FrameGraph(graphBox, detail);
  const show = (pid) => {
    if (kept.pid !== pid) kept.late = null;
    kept.pid = pid;
    const row = presenters.find((one) => one.pid === pid), [numbers, rest] = frameNumbers(row), shownLate = lateFrames.filter((frame) => frame.pid === pid).length;
    tiles.replaceChildren(numbers);
    below.replaceChildren();
    graph.show(pid);
    legendBox.replaceChildren(legend([['frame', 'frame'], ['late', ['late frame, with a mark below it', el('span', { class: 'screen' }, '; click it to see why')]], ...(graph.series.early.some(Boolean) ? [['early', 'one of the first frames, too early to judge']] : []), ...(row.target_ns ? [['target', 'when each is due']] : [])]));
    rest(below, graph.series);
    const notes = [];
    if (graph.series.each > 1) notes.push(`There are so many frames that each bar is the longest of ${graph.series.each}.`);
    if (shownLate < row.late) notes.push(`Of ${number(row.late)} late frames the ${number(shownLate)} that were latest have their path here.`);
    note.textContent = notes.join(' ');
  };
  const first = chosen.find((row) => row.pid === kept.pid) || chosen[0];
  pick.value = first.pid;
  show(first.pid);
  scale.setAttribute('aria-pressed', graph.everything);
  window.frameGraph = graph;
}
