/* What only some recordings have: training steps, and how long after input the frame came. */
const STEP_PARTS = [['ran', 'ran', 'ran'], ['sync', 'waited for the GPU', 'role-audio'], ['copy', 'copied', 'role-cpu-bound'], ['collective', "was in NCCL's calls", 'role-compositor'],
  ['cpu_wait', 'waited for a CPU', 'waited'], ['data', 'waited for data of another process', 'role-input'], ['lock', 'waited for a lock or a queue', 'role-network'], ['slept', 'slept', 'slept']];

/* Each moment once: in calls that wait or copy a thread sleeps or runs as well, which is taken off there. */
function stepParts(row) {
  let inCalls = row.sync_ns + row.copy_ns + row.collective_ns;
  const off = (field) => { const by = Math.min(inCalls, row[field]); inCalls -= by; return row[field] - by; }, once = { ...row };
  for (const field of ['slept_ns', 'ran_ns']) once[field] = off(field);
  return STEP_PARTS.map(([field, words, paint]) => [once[field + '_ns'], words, paint]).filter(([ns]) => ns);
}

function makeSteps() {
  const rows = all('cuda_steps'), slow = all('cuda_slow_step');
  if (!rows.length) return;
  const section = shown('steps');
  for (const row of rows) {
    const parts = stepParts(row), most = sum(parts.map(([ns]) => ns)) || 1;
    section.append(el('h3', {}, `${row.comm} [${row.pid}]`), el('div', { class: 'tiles', 'data-steps': row.pid }, tile('steps', 'steps', row.steps, number(row.steps)), tile('half take under', 'p50_ns', row.p50_ns, time(row.p50_ns)),
      tile('99 of 100 under', 'p99_ns', row.p99_ns, time(row.p99_ns)), tile('the longest', 'max_ns', row.max_ns, time(row.max_ns)), tile('slow', 'slow', row.slow, number(row.slow), row.slow),
      tile('launches a step', 'launches', row.launches, row.launches.toFixed(1))),
    el('p', { class: 'lead' }, 'Where the time of an average step goes, for the thread that launches:'),
    el('div', { class: 'stack', role: 'img', 'aria-label': parts.map(([ns, words]) => `${words} ${time(ns)}`).join(', ') }, parts.map(([ns, , paint]) =>
      svg('svg', { width: `${100 * ns / most}%`, viewBox: '0 0 1 1', preserveAspectRatio: 'none' }, svg('rect', { width: 1, height: 1, fill: `var(--${paint})` })))),
    legend(parts.map(([ns, words, paint]) => [paint, `${words}: ${time(ns)}`])));
  }
  if (slow.length) section.append(el('h3', {}, 'Slow steps, the longest'), makeTable({ label: 'Slow steps', id: 'step-table', sort: 'wall_ns', low: true,
    rows: slow.map((row) => ({ ...row, at_ns: row.time_ns - head.from_ns })), columns: [
      ['step', 'step', 'count'], ['at_ns', 'at', 'moment'], ['wall_ns', 'took', 'time'], ['usual_ns', 'usually', 'time'], ['words', 'because', 'long']] }));
}

/* Each click as a point: when it was, and how long until its frame was presented, or shown. */
function makeClicks() {
  const rows = all('input_to_frame'), each = all('input_frame').map((row) => ({ ...row, at: row.time_ns - head.from_ns }));
  if (!rows.length) return;
  const section = shown('clicks'), ends = [['present_ns', 'presented', 'accent'], ['shown_ns', 'shown', 'target']].filter(([field]) => each.some((row) => row[field] !== null));
  const most = Math.max(1, ...each.flatMap((row) => ends.map(([field]) => row[field] || 0))) * 1.05;
  section.append(el('p', { class: 'lead' }, 'The time from an input report to the frame that answers it: presented, and shown if the display tells.'), legend(ends.map(([, words, paint]) => [paint, words])));
  new Chart(section, {
    label: 'Time from input to the frame that answers it.', height: 150,
    under(pen) {
      const step = steps(most, 4), marks = [];
      for (let value = 0; value <= most; value += step) marks.push(value);
      this.grid(pen, marks, (value) => this.deep - value / most * (this.deep - 8), tick);
    },
    paint(pen) {
      for (const [field, , paint] of ends) {
        pen.fillStyle = colour(paint);
        for (const row of each) if (row[field] !== null) pen.fillRect(this.x(row.at) - 2, this.deep - row[field] / most * (this.deep - 8) - 2, 4, 4);
      }
    },
    hover(x) {
      const near = each.reduce((best, row) => (!best || Math.abs(this.x(row.at) - x) < Math.abs(this.x(best.at) - x) ? row : best), null);
      if (!near || Math.abs(this.x(near.at) - x) > 6) return '';
      return `${near.device} at ${seconds(near.at)}\nread after ${time(near.run_ns)}, ${near.comm} presents after ${time(near.present_ns)}` + (near.shown_ns === null ? '' : `, shown after ${time(near.shown_ns)}`);
    },
  });
  section.append(makeTable({ label: 'From input to frame', id: 'click-table', sort: 'frames', low: true, rows, columns: [
    ['comm', 'Program', 'text'], ['pid', 'pid', 'plain'], ['device', 'device', 'text'], ['frames', 'frames', 'count'], ['reports', 'reports', 'count'], ['run_p50_ns', 'read p50', 'time'],
    ['run_p99_ns', 'p99', 'time'], ['present_p50_ns', 'presented p50', 'time'], ['present_p99_ns', 'p99', 'time'], ['present_max_ns', 'longest', 'time'],
    ['shown_p50_ns', 'shown p50', 'time'], ['shown_p99_ns', 'p99', 'time'], ['shown_max_ns', 'longest', 'time']] }));
}
