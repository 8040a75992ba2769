/* Waits by time and length, who waited behind whom, and what ran on the CPUs. */
const OCTAVES = 25;
let bins = head.bins, binNs = head.bin_ns;
const octaveLow = (octave) => (octave ? 2 ** (octave - 1) * 1000 : 0);

function makeWaits() {
  const roles = all('report_waits').filter((record) => record.cells.length), rows = all('latency');
  if (!roles.length) return;
  const section = shown('waits'), on = new Set(roles.map((record) => record.role).filter((role) => !kept.rolesOff.has(role))), cells = new Float64Array(bins * OCTAVES);
  let low = 0, high = OCTAVES - 1, most = 1;
  let grid = null;
  const mostText = el('span');
  const total = () => {
    cells.fill(0);
    most = 1;
    low = OCTAVES; high = 0;
    for (const record of roles) {
      for (let k = 0; k < record.cells.length; k += 3) {
        const at = record.cells[k] * OCTAVES + record.cells[k + 1];
        low = Math.min(low, record.cells[k + 1]);
        high = Math.max(high, record.cells[k + 1]);
        if (on.has(record.role)) most = Math.max(most, cells[at] += record.cells[k + 2]);
      }
    }
    grid = new Grid(high - low + 1, (bin, row) => {
      const count = cells[bin * OCTAVES + high - row];
      return count && [...mixed(colour('heat-0'), colour('heat-1'), 0.18 + 0.82 * Math.log1p(count) / Math.log1p(most)), 1];
    });
    mostText.textContent = `${number(most)} in ${time(binNs)}`;
  };
  section.append(el('p', { class: 'lead' }, 'How often threads waited for a CPU, and how long: from the moment they could run until they ran. Time runs to the right, longer waits are higher up, and a stronger colour means more of them. In the table, p99 is the time that 99 of 100 waits were under. Show:'));
  section.append(el('ul', { class: 'legend' }, roles.map((record) => el('li', {}, el('label', {}, el('input', { type: 'checkbox', checked: on.has(record.role), change: (event) => {
    if (event.target.checked) on.add(record.role); else on.delete(record.role);
    if (event.target.checked) kept.rolesOff.delete(record.role); else kept.rolesOff.add(record.role);
    total();
    redraw();
  } }), el('span', { class: 'role ' + record.role }, record.role))))));
  const chart = new Chart(section, {
    label: 'Waits for a CPU over time, by how long they were.', height: 240,
    row(octave) { return this.deep * (1 - (octave - low + 1) / (high - low + 1)); },
    under(pen) {
      const each = Math.max(1, Math.ceil((high - low + 1) / 9));
      pen.textAlign = 'right';
      pen.textBaseline = 'middle';
      for (let octave = low; octave <= high; octave += each) {
        pen.fillStyle = colour('soft');
        pen.fillText(octave ? time(octaveLow(octave)) : '< 1 us', LEFT - 8, Math.min(Math.max(this.row(octave) + this.deep / (high - low + 1), 8), this.deep - 6));
      }
    },
    paint(pen) {
      pen.fillStyle = colour('heat-0');
      pen.globalAlpha = 0.6;
      pen.fillRect(LEFT, 0, this.inner, this.deep);
      pen.globalAlpha = 1;
      grid.draw(this, pen, this.deep / (high - low + 1), 0.5);
    },
    hover(x, y) {
      const bin = Math.floor(this.at(x) / binNs), octave = high - Math.floor(y / this.deep * (high - low + 1)), count = cells[bin * OCTAVES + octave];
      if (bin < 0 || bin >= bins || !count) return '';
      return `${number(count)} waits of ${octave ? `${time(octaveLow(octave))} to ${time(octaveLow(octave + 1))}` : 'under 1 us'}\n${seconds(bin * binNs)} to ${seconds(Math.min((bin + 1) * binNs, whole))}`;
    },
  });
  section.append(el('p', { class: 'lead' }, 'one wait ', el('span', { class: 'ramp', 'aria-hidden': 'true' }), ' ', mostText));
  total();
  window.waitCells = () => [...cells];
  const words = { all: 'all', wakeup: 'after a wake-up', preempt: 'after a preemption' };
  section.append(makeTable({ label: 'Waits by what was before them', id: 'wait-table', rows: rows.map((row) => ({ ...row, after: words[row.row] || row.row })), columns: [
    ['after', 'Waits', 'text'], ['waits', 'how many', 'count'], ['wait_ns', 'in all', 'time'], ['p50_ns', 'p50', 'time'], ['p90_ns', 'p90', 'time'],
    ['p95_ns', 'p95', 'time'], ['p99_ns', 'p99', 'time'], ['p999_ns', 'p99.9', 'time'], ['max_ns', 'longest', 'time']] }));
}

/* The largest rows and columns; the rest of each in one. */
function largest(pairs, at, most) {
  const sums = new Map();
  for (const pair of pairs) sums.set(pair[at], (sums.get(pair[at]) || 0) + pair[3]);
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, most).map(([name]) => name);
}

function makeBehind() {
  const record = all('report_behind')[0];
  if (!record || !record.pairs.length) return;
  const section = shown('behind'), rows = largest(record.pairs, 0, 14), columns = largest(record.pairs, 1, 12), REST = -1;
  const cells = new Map(), key = (a, b) => `${rows.includes(a) ? a : REST} ${columns.includes(b) ? b : REST}`;
  for (const [waiter, culprit, waits, ns, longest] of record.pairs) {
    const at = key(waiter, culprit), cellOf = cells.get(at) || { waits: 0, ns: 0, longest: 0 };
    cells.set(at, { waits: cellOf.waits + waits, ns: cellOf.ns + ns, longest: Math.max(cellOf.longest, longest) });
  }
  if ([...cells.keys()].some((at) => at.startsWith(REST + ' '))) rows.push(REST);
  if ([...cells.keys()].some((at) => at.endsWith(' ' + REST))) columns.push(REST);
  const most = Math.max(...[...cells.values()].map((one) => one.ns)), title = (name) => (name === REST ? 'others' : nameOf(name));
  const table = el('table', { class: 'matrix', id: 'matrix' }, el('thead', {}, el('tr', {}, el('th', { class: 'corner', scope: 'col' }, 'waited ↓ behind →'), columns.map((name) => el('th', { scope: 'col' }, el('span', {}, title(name)))))),
    el('tbody', {}, rows.map((waiter) => el('tr', {}, el('th', { scope: 'row' }, title(waiter)), columns.map((culprit) => {
      const one = cells.get(`${waiter} ${culprit}`);
      if (!one) return el('td', {});
      const td = el('td', { title: `${title(waiter)} waited ${time(one.ns)} behind ${title(culprit)}: ${number(one.waits)} waits, the longest ${time(one.longest)}`, 'data-value': one.ns }, time(one.ns));
      td.dataset.share = Math.sqrt(one.ns / most);
      return td;
    })))));
  section.append(el('p', { class: 'lead' }, `How long threads of each name (rows) waited, by who had the CPU for most of the wait (columns). Waits of ${time(head.behind_ns)} or more: `,
    el('span', { 'data-field': 'behind_ns', 'data-value': sum(record.pairs.map((pair) => pair[3])) + record.left_out_ns }, time(sum(record.pairs.map((pair) => pair[3])) + record.left_out_ns)), ' in all.'),
  el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Who waited behind whom' }, table));
  const tint = () => table.querySelectorAll('td[data-share]').forEach((td) => {
    const ground = mix(colour('heat-0'), colour('heat-1'), 0.04 + 0.9 * Number(td.dataset.share));
    td.style.background = ground;
    td.style.color = inkOn(ground);
  });
  tint();
  tinted.push(tint);
}
const tinted = [];

function makeCpus() {
  const kinds = all('report_cpu_time'), lanes = all('report_cpu'), seen = sum(kinds.map((kind) => kind.cpu_ns));
  const others = kinds.find((kind) => kind.kind === 'not watched').cpu_ns, busy = seen - others;
  if (!seen) return;
  const section = shown('cpus'), order = kinds.map((kind, i) => ({ ...kind, i })).filter((kind) => kind.cpu_ns).sort((a, b) => b.cpu_ns - a.cpu_ns);
  const variable = (kind) => 'role-' + (kind === 'not watched' ? 'unwatched' : kind);
  section.append(el('p', { class: 'lead' }, `CPU time by what the threads are for, over ${head.cpus} CPUs: `, el('b', { 'data-field': 'cpu_ns', 'data-value': busy }, time(busy)), ` in all, ${share(busy, whole * head.cpus)} of what the CPUs had.`
    + (others ? ' Grey is other threads, which were not recorded: an upper bound, since they are seen only where a recorded one begins or ends.' : '')),
    legend(order.map((kind) => [variable(kind.kind), `${kind.kind}: ${time(kind.cpu_ns)}`])));
  new Chart(section, {
    label: 'CPU time by role over time.', height: 150,
    under(pen) {
      const most = Math.max(1, head.cpus), step = Math.max(1, Math.ceil(most / 4)), values = [];
      for (let value = 0; value <= most; value += step) values.push(value);
      this.grid(pen, values, (value) => this.deep - value / most * (this.deep - 6), (value) => `${value} CPU${value === 1 ? '' : 's'}`);
    },
    paint(pen) {
      const scale = (this.deep - 6) / Math.max(1, head.cpus), first = Math.max(0, Math.floor(view.from / binNs)), last = Math.min(bins - 1, Math.floor(view.to / binNs));
      for (let bin = first; bin <= last; bin++) {
        const long = Math.min(binNs, whole - bin * binNs), from = this.x(bin * binNs), wide = this.x(bin * binNs + long) - from;
        let y = this.deep;
        for (const kind of order) {
          const tall = kind.cpu_us[bin] * 1000 / Math.max(long, 1) * scale;
          if (!tall) continue;
          y -= tall;
          pen.fillStyle = roleColour(kind.kind);
          pen.fillRect(from, y, wide + 0.4, tall);
        }
      }
    },
    hover(x) {
      const bin = Math.floor(this.at(x) / binNs);
      if (bin < 0 || bin >= bins) return '';
      return `${seconds(bin * binNs)}\n` + order.filter((kind) => kind.cpu_us[bin]).map((kind) => `${kind.kind}: ${time(kind.cpu_us[bin] * 1000)}`).join('\n');
    },
  });
  if (!lanes.length) return;
  const grid = new Grid(lanes.length, (bin, i) => lanes[i].busy_per_mille[bin] && [...channels(roleColour(ROLES[lanes[i].mostly[bin]] || 'unknown')), 0.15 + 0.85 * Math.min(1, lanes[i].busy_per_mille[bin] / 1000)]);
  const tall = lanes.length > 32 ? 8 : lanes.length > 8 ? 14 : 22;
  section.append(el('h3', {}, 'Each CPU: what it mostly ran; paler means less busy'));
  new Chart(section, {
    label: 'Each CPU over time, by what it mostly ran.', height: lanes.length * tall + FOOT,
    under(pen) {
      pen.textAlign = 'right';
      pen.textBaseline = 'middle';
      pen.fillStyle = colour('soft');
      const each = Math.ceil(12 / tall);
      lanes.forEach((lane, i) => { if (i % each === 0) pen.fillText('CPU ' + lane.cpu, LEFT - 8, i * tall + tall / 2); });
    },
    paint(pen) {
      grid.draw(this, pen, tall, 2);
    },
    hover(x, y) {
      const lane = lanes[Math.floor(y / tall)], bin = Math.floor(this.at(x) / binNs);
      if (!lane || bin < 0 || bin >= bins) return '';
      return `CPU ${lane.cpu} at ${seconds(bin * binNs)}: ${(lane.busy_per_mille[bin] / 10).toFixed(1)} % busy` + (lane.busy_per_mille[bin] ? `, mostly ${kinds[lane.mostly[bin]].kind}` : '');
    },
  });
}
