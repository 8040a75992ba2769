/* Two sides beside each other: the verdict, how long frames and waits were on each, every figure with its interval, and what each stretch of time had. */
const FOR_A_CURVE = 20;
const SIDES = [['a', 'A', 'side-a'], ['b', 'B', 'accent']];
const UNITS = { ns: time, share: (value) => (100 * value).toFixed(2) + ' %', per_s: (value) => (value >= 1000 ? number(value) : value.toFixed(2)), cpus: (value) => value.toFixed(3) };
/* As 'tactus compare' names them. */
const FIGURES = { frames: 'frames a second', late_frames: 'late frames', frame_p50: 'frame time p50', frame_p99: 'frame time p99', frame_p999: 'frame time p99.9', frame_longest: 'longest frame',
  wait_p50: 'wait p50', wait_p99: 'wait p99', wait_p999: 'wait p99.9', wait_longest: 'longest wait', misses: 'deadline misses', cpu_time: 'CPUs used', switches: 'switches a second', launches: 'launches a second' };
const CAUSES = { ran: 'it ran longer itself', other_ran: 'it waited for a thread that ran', waited: 'a wait for a CPU', slept: 'sleep', unknown: 'not known' };
const ofWords = ({ of, name }) => ({ program: name, cause: `by ${CAUSES[name] || name}`, tier: `${name} threads`, role: `${name} threads`, others: 'other programs' })[of] ?? 'all threads';
/* Between two shares there are points. */
const changeText = (unit) => (value) => (value === null ? '–' : (value < 0 ? '−' : '+') + (unit === 'share' ? (100 * Math.abs(value)).toFixed(2) + ' points' : (UNITS[unit] || String)(Math.abs(value))));
const unitText = (unit) => (value) => (value === null ? '–' : value < 0 ? '−' + (UNITS[unit] || String)(-value) : (UNITS[unit] || String)(value));

/* Of a curve the shares that took longer than each of its times: what it is at the percentiles is what 'tactus compare' prints. */
function longerThan(curve) {
  let left = curve.total;
  return curve.times_ns.map((ns, i) => { const part = left / curve.total; left -= curve.counts[i]; return [ns, part]; });
}

/* Text keeps its size on a narrow screen. */
const wideEnough = () => Math.max(300, Math.min(860, byId('verdict').clientWidth - 30));

/* A side's recordings without their folders; of many the first. */
function sideWords(side) {
  const files = all('compare_side').find((row) => row.side === side)?.files ?? [], first = (files[0] ?? '').split('/').pop();
  return files.length > 1 ? `${first} and ${files.length - 1} more` : first;
}

/* What is urgent comes before what is not, and everything together at the end. */
const CURVE_ORDER = ['latency-critical', 'interactive', 'unknown', 'batch'];
const curveRank = ([of, name]) => (of === 'frames' ? -1 : name ? (CURVE_ORDER.indexOf(name) + CURVE_ORDER.length) % CURVE_ORDER.length : CURVE_ORDER.length);

/* Times to the right and shares downwards, both logarithmic: where curves part below, the slow ones differ. */
function curvePicture(curves, label) {
  const width = wideEnough(), height = 250, left = 62, foot = 34, top = 8;
  const lines = curves.map(longerThan), times = lines.flat().map(([ns]) => Math.max(ns, 1)), low = Math.log10(Math.min(...times)), high = Math.log10(Math.max(...times)) + 0.02;
  const least = Math.min(...curves.map((curve) => -Math.log10(Math.max(curve.total, 10)))), x = (ns) => left + (Math.log10(Math.max(ns, 1)) - low) / Math.max(high - low, 0.01) * (width - left - 20);
  const y = (part) => top + Math.log10(part) / least * (height - foot - top);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  for (let power = 0; power >= least; power--) picture.append(svg('line', { x1: left, x2: width - 20, y1: y(10 ** power), y2: y(10 ** power), stroke: 'var(--grid)' }),
    svg('text', { x: left - 8, y: y(10 ** power) + 4, 'text-anchor': 'end', 'font-size': 11, fill: 'var(--soft)' }, power ? `1 in ${number(10 ** -power)}` : 'all'));
  for (let power = Math.floor(low); power <= high; power++) {
    for (const part of [1, 2, 5]) {
      const ns = part * 10 ** power;
      if (Math.log10(ns) < low || Math.log10(ns) > high || (high - low > width / 280 && part !== 1)) continue;
      picture.append(svg('line', { x1: x(ns), x2: x(ns), y1: top, y2: height - foot, stroke: 'var(--grid)' }),
        svg('text', { x: x(ns), y: height - foot + 15, 'text-anchor': 'middle', 'font-size': 11, fill: 'var(--soft)' }, tick(ns)));
    }
  }
  let ended = [0, 0];
  lines.forEach((line, i) => {
    const [, name, paint] = SIDES.find(([side]) => side === curves[i].side), path = line.map(([ns, part], at) => `${at ? 'H' : 'M'}${x(ns).toFixed(1)}${at ? 'V' : ','}${y(part).toFixed(1)}`).join('');
    const [last, part] = line[line.length - 1];
    /* Where both end at one place, their names stand on both sides of it. */
    const near = i && Math.abs(x(last) - ended[0]) < 14 && Math.abs(y(part) - ended[1]) < 14;
    ended = [x(last), y(part)];
    picture.append(svg('path', { d: path, fill: 'none', stroke: `var(--${paint})`, 'stroke-width': 2, 'data-side': curves[i].side }),
      svg('text', { x: near ? x(last) - 6 : Math.min(x(last) + 6, width - 16), y: Math.min(y(part) + 4, height - foot - 3), 'text-anchor': near ? 'end' : 'start', 'font-size': 13, 'font-weight': 700, fill: `var(--${paint})` }, name));
  });
  return picture;
}

function makeCurves() {
  const curves = all('compare_curve'), names = [...new Set(curves.map((curve) => JSON.stringify([curve.of, curve.name])))].sort((a, b) => curveRank(JSON.parse(a)) - curveRank(JSON.parse(b)));
  if (!curves.length) return;
  const section = shown('curves');
  section.append(el('p', { class: 'lead' }, 'How many took longer than each time. The curve further to the left, and lower, is the better one.'), legend(SIDES.map(([side, name, paint]) => [paint, `${name}: ${sideWords(side)}`])));
  const few = [];
  for (const key of names) {
    const [of, name] = JSON.parse(key), both = curves.filter((curve) => JSON.stringify([curve.of, curve.name]) === key);
    const title = of === 'frames' ? `Frames of ${name}` : name ? `Waits for a CPU, ${name} threads` : 'Waits for a CPU, all threads';
    if (both.length < 2 || both.some((curve) => curve.total < FOR_A_CURVE)) { few.push(`${title} (${both.map((curve) => `${curve.side.toUpperCase()} has ${number(curve.total)}`).join(', ')})`); continue; }
    section.append(el('div', { class: 'curve', 'data-curve': `${of} ${name ?? ''}` }, el('h3', {}, title + ': ' + both.map((curve) => `${curve.side.toUpperCase()} has ${number(curve.total)}`).join(', ')), curvePicture(both, title)));
  }
  if (few.length) section.append(el('p', { class: 'lead' }, `Too few on a side for a curve: ${few.join('; ')}.`));
}

/* The interval of a difference, in parts of side A. */
function forest(row) {
  if (row.low === null || !row.a) return el('td', {});
  const most = 1, x = (value) => 80 + Math.max(-1, Math.min(1, value / Math.abs(row.a) / most)) * 78, [low, high] = [x(row.low), x(row.high)];
  return el('td', { class: 'forest', title: 'from nothing at the left to twice as much as A, or more, at the right; the line in the middle is no difference' }, svg('svg', { viewBox: '0 0 160 14', 'aria-hidden': 'true' },
    svg('line', { x1: 80, x2: 80, y1: 0, y2: 14, stroke: 'var(--faint)' }), svg('rect', { x: low, y: 5, width: Math.max(1.5, high - low), height: 4, rx: 2, fill: row.change === 'none' ? 'var(--faint)' : 'var(--accent)' }),
    svg('circle', { cx: x(row.difference), cy: 7, r: 3, fill: 'var(--ink)' })));
}

function makeFigures() {
  const rows = all('compare');
  if (!rows.length) return;
  const cellOf = (row, field, text = unitText) => el('td', { 'data-field': field, 'data-value': row[field] ?? '' }, text(row.unit)(row[field]));
  const table = el('table', { id: 'figure-table' }, el('thead', {}, el('tr', {}, ['Figure', 'of', 'A', 'B', 'difference', '95 % interval', '', 'sure'].map((title, i) => el('th', { scope: 'col', class: i < 2 ? 'text' : null }, title)))),
    el('tbody', {}, rows.map((row) => el('tr', { class: row.is_headline ? 'headline' : null }, el('th', { scope: 'row', class: 'text' }, FIGURES[row.figure] ?? row.figure), el('td', { class: 'text' }, ofWords(row)),
      cellOf(row, 'a'), cellOf(row, 'b'), cellOf(row, 'difference', changeText), el('td', {}, row.low === null ? '' : `${changeText(row.unit)(row.low)} to ${changeText(row.unit)(row.high)}`), forest(row),
      el('td', { class: row.change === 'more' || row.change === 'less' ? 'sure' : null }, row.change === 'more' || row.change === 'less' ? row.change : '')))));
  shown('figures').append(el('p', { class: 'lead' }, 'Each interval contains the real difference 19 times out of 20; of 40 figures, two fall outside theirs by chance. The verdict uses only the lines in bold, with wider intervals.'),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Figures of both sides' }, table));
}

/* One bar a stretch, so that a side that changes on the way is seen. */
function makeBlocks() {
  const runs = all('compare_blocks').filter((run) => run.blocks.length), has = (at) => runs.some((run) => run.blocks.some((block) => block[at]));
  const [at, what] = has(1) ? [1, 'frames a second'] : has(3) ? [3, 'launches a second'] : [4, 'switches a second'];
  if (!runs.length || !has(at)) return;
  const section = shown('blocks'), rate = (block) => block[at] / Math.max(block[0], 1) * 1e9, most = Math.max(...runs.flatMap((run) => run.blocks.map(rate))) || 1;
  section.append(el('p', { class: 'lead' }, `Each bar is a stretch of a recording, and its height the ${what}${at === 1 ? '; the share of late frames is red' : ''}. The intervals above come from the differences between bars of one side.`));
  for (const run of runs) {
    const width = wideEnough(), height = 74, wide = width / run.blocks.length, [, name, paint] = SIDES.find(([side]) => side === run.side);
    section.append(el('h3', {}, `${name}: ${run.blocks.length} stretches`), el('div', { class: 'curve' }, svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${name}, ${what} of each stretch` },
      run.blocks.map((block, i) => {
        const tall = rate(block) / most * (height - 4), late = at === 1 && block[1] ? tall * block[2] / block[1] : 0;
        return [svg('rect', { x: i * wide, y: height - tall, width: Math.max(1, wide - 1.5), height: tall, fill: `var(--${paint})` }, svg('title', {}, `${rate(block).toFixed(1)} ${what}, ${number(block[2])} late`)),
          late ? svg('rect', { x: i * wide, y: height - late, width: Math.max(1, wide - 1.5), height: late, fill: 'var(--late)' }) : null];
      }))));
  }
}

const machineWords = ({ kernel, cpus }) => (kernel === null ? 'several kernels or machines' : `Linux ${kernel}, ${number(cpus)} ${cpus === 1 ? 'CPU' : 'CPUs'}`);
function makeCompare() {
  const verdict = all('compare_verdict')[0], sides = all('compare_side'), kind = { better: 'good', worse: 'bad', mixed: 'bad' }[verdict.verdict] || '';
  const section = byId('verdict');
  section.className = kind;
  section.append(el('p', { class: 'sentence ' + (kind || 'bad'), 'data-verdict': verdict.verdict }, together(verdict.words[0].toUpperCase() + verdict.words.slice(1) + '.')),
    ...sides.map((side) => el('p', { class: 'sentence note' }, `${side.side.toUpperCase()}: ${side.files.join(', ')}: ${seconds(side.span_ns)} in ${number(side.blocks)} stretches of ${number(side.runs)} ${side.runs === 1 ? 'recording' : 'recordings'}; ${machineWords(side)}.`)),
    ...(sides.some((side) => machineWords(side) !== machineWords(sides[0]) || side.kernel === null) ? [el('p', { class: 'sentence note' }, 'Kernels or CPUs differ: a difference may come from that too.')] : []));
  document.querySelector('h1 span').textContent = 'compare';
  byId('about').append('two sides, A and B');
  byId('ruler').hidden = true;
  document.title = 'tactus compare';
  makeCurves();
  makeFigures();
  makeBlocks();
  makeParts();
  byId('foot').append(el('p', {}, "Every number here is one that 'tactus compare' prints of the same recordings. With one recording a side, what differs from run to run is not in the intervals: record each several times."));
}
