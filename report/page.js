/* The rest of the page: the verdict, threads, moves, GPU, CUDA, what tactus did; and light and dark. */
let counts = {};

/* A command in quotes stays on one line. */
const commands = (text) => text.split(/('[^']{1,48}')/).map((part, i) => (i % 2 ? el('code', {}, part) : part));

/* Of a verdict the first sentence is the one that counts. */
function sentence({ kind, text }) {
  const words = together(text), end = kind === 'bad' || kind === 'good' ? words.indexOf('. ') + 1 : 0;
  return end ? [words.slice(0, end), el('span', {}, commands(words.slice(end)))] : commands(words);
}

function makeVerdict() {
  const section = byId('verdict'), sentences = all('report_verdict'), first = sentences.find((one) => one.kind === 'bad' || one.kind === 'good');
  section.className = first ? first.kind : '';
  section.append(...sentences.map((one, i) => el('p', { class: 'sentence ' + one.kind + (!first && !i ? ' head' : '') }, sentence(one))));
  const when = new Date(head.wall_ns / 1e6), about = [head.source || 'watched live', `Linux ${head.kernel}`, `${head.cpus} CPUs`, seconds(whole, 2), `${number(head.events)} events`];
  if (head.is_part) about.push('a part of the recording');
  byId('about').append(about.join(' · ') + ' · ', el('time', { datetime: when.toISOString() }, when.toISOString().slice(0, 16).replace('T', ' ') + ' UTC'));
  document.title = `${head.source || (head.is_live ? 'live' : 'tactus')}: tactus report`;
}

/* Something that is counted, over time. */
function countChart(section, label, parts, perSecond, text) {
  const values = parts.filter(([field]) => counts[field] && counts[field].some(Boolean));
  if (!values.length) return;
  section.append(legend(values.map(([field, words, paint]) => [paint, `${words}: ${text(sum(counts[field]))}`])));
  const rate = (field, bin) => counts[field][bin] / (perSecond ? binNs / 1e9 : binNs), most = Math.max(...values.map(([field]) => Math.max(...counts[field].map((_, bin) => rate(field, bin))))) || 1;
  new Chart(section, {
    label, height: 110,
    under(pen) {
      const step = steps(most, 3), marks = [];
      for (let value = 0; value <= most * 1.02; value += step) marks.push(value);
      this.grid(pen, marks, (value) => this.deep - value / most * (this.deep - 8), (value) => (perSecond ? number(value) + '/s' : share(value, 1)));
    },
    paint(pen) {
      for (const [field, , paint] of values) {
        pen.strokeStyle = colour(paint);
        pen.lineWidth = 1.6;
        pen.beginPath();
        for (let bin = 0; bin < bins; bin++) {
          const y = this.deep - rate(field, bin) / most * (this.deep - 8);
          pen.lineTo(this.x(bin * binNs), y);
          pen.lineTo(this.x((bin + 1) * binNs), y);
        }
        pen.stroke();
      }
    },
    hover(x) {
      const bin = Math.floor(this.at(x) / binNs);
      return bin < 0 || bin >= bins ? '' : `${seconds(bin * binNs)}\n` + values.map(([field, words]) => `${words}: ${text(counts[field][bin])}`).join('\n');
    },
  });
}

function makeThreads() {
  const rows = all('report_thread'), totals = all('report_threads')[0];
  if (!rows.length) return;
  const section = shown('threads'), left = totals && totals.left_out;
  section.append(makeTable({ label: 'Threads', id: 'thread-table', filter: 'Filter by name, role, tid or pid', sort: 'cpu_ns', rows, columns: [
    ['comm', 'Thread', 'text'], ['tid', 'tid', 'plain'], ['pid', 'pid', 'plain'], ['role', 'role', 'role'], ['cpu_ns', 'CPU time', 'time'],
    ['wait_ns', 'waited', 'time'], ['p50_ns', 'wait p50', 'time'], ['p99_ns', 'wait p99', 'time'], ['wait_max_ns', 'longest wait', 'time'], ['wakeups', 'wake-ups', 'count'],
    ['involuntary', 'preempted', 'count'], ['migrations', 'moves', 'count']] }));
  if (left) section.append(el('p', { class: 'lead' }, `${number(left)} more threads ran ${time(totals.left_out_cpu_ns)} and waited ${time(totals.left_out_wait_ns)} together; these are the ${number(rows.length)} that did most.`));
}

const MOVE_WORDS = { wakeup: 'as it woke up', balance: 'to spread the load', affinity: 'its CPUs were changed', exec: 'as it started a program', hotplug: 'its CPU went away', unknown: 'not known' };
function makeMoves() {
  const causes = all('migration_cause'), rows = all('migration_thread');
  if (!causes.length) return;
  const section = shown('moves');
  section.append(el('p', { class: 'lead' }, 'How often the kernel moved threads to another CPU, and when: as one woke up, to spread the load, or since the CPUs that it may use were changed. A thread that moves leaves behind what it had in caches.'));
  section.append(makeBars(causes.map((cause) => [MOVE_WORDS[cause.cause] || cause.cause, cause.moves]), (value) => number(value) + (value === 1 ? ' move' : ' moves'), 'var(--accent)'));
  countChart(section, 'Moves over time.', [['moves', 'moves', 'accent']], true, number);
  section.append(el('h3', {}, 'Threads that moved'), makeTable({ label: 'Threads that moved', id: 'move-table', sort: 'moves', low: true, rows, columns: [
    ['comm', 'Thread', 'text'], ['tid', 'tid', 'plain'], ['role', 'role', 'role'], ['moves', 'moves', 'count'], ['wakeup', 'by wake-up', 'count'], ['balance', 'by balance', 'count'],
    ['affinity', 'by affinity', 'count'], ['core', 'to sibling', 'count'], ['cache', 'in cache', 'count'], ['node', 'in node', 'count'], ['across', 'across', 'count'],
    ['to_run_avg_ns', 'until it ran, mean', 'time'], ['to_run_max_ns', 'longest', 'time']].filter(([field, , kind]) => kind !== 'count' || rows.some((row) => row[field])) }));
}

function makeTimers() {
  const rows = all('miss_thread');
  if (!rows.length) return;
  shown('timers').append(el('p', { class: 'lead' }, 'Threads that render, play sound, read input or compose, and that a timer wakes: how often each ran too late for its period.'),
    makeTable({ label: 'Threads that work by a timer', id: 'timer-table', sort: 'misses', low: true, rows, columns: [
      ['comm', 'Thread', 'text'], ['tid', 'tid', 'plain'], ['role', 'role', 'role'], ['period_ns', 'period', 'time'], ['periods', 'periods', 'count'], ['misses', 'missed', 'count', true],
      ['missed_periods', 'periods lost', 'count'], ['late_avg_ns', 'late by, mean', 'time'], ['late_max_ns', 'longest', 'time']] }));
}

function makeGpu() {
  const submits = all('submits'), rings = all('gpu_ring'), fences = all('fences'), memory = all('gpu_memory');
  if (!submits.length && !rings.length && !fences.length && !memory.length) return;
  const section = shown('gpu');
  countChart(section, 'Submits over time.', [['submits', 'submits', 'role-render']], true, number);
  if (submits.length) section.append(el('h3', {}, 'Submits'), makeTable({ label: 'Submits to GPUs', id: 'submit-table', sort: 'submits', low: true, rows: submits, columns: [
    ['comm', 'Thread', 'text'], ['tid', 'tid', 'plain'], ['driver', 'driver', 'text'], ['kind', 'kind', 'text'], ['submits', 'submits', 'count'], ['submits_per_s', 'a second', 'percent'],
    ['interval_p50_ns', 'every (p50)', 'time'], ['ioctl_p50_ns', 'call p50', 'time'], ['ioctl_p99_ns', 'call p99', 'time'], ['ioctl_max_ns', 'longest', 'time'],
    ['refused', 'refused', 'count', true], ['ioctl_stalls', 'stalls', 'count', true], ['gap_stalls', 'gaps', 'count', true]] }));
  if (rings.length) section.append(el('h3', {}, 'Rings: in the queue, behind another job, at work'), makeTable({ label: 'Rings of GPUs', id: 'ring-table', low: true, sort: 'jobs', rows: rings, columns: [
    ['device', 'device', 'text'], ['ring', 'ring', 'text'], ['jobs', 'jobs', 'count'], ['queue_p50_ns', 'queue p50', 'time'], ['queue_p99_ns', 'p99', 'time'], ['behind_p99_ns', 'behind p99', 'time'],
    ['run_p50_ns', 'run p50', 'time'], ['run_p99_ns', 'p99', 'time'], ['run_max_ns', 'longest', 'time'], ['busy_percent', 'busy %', 'percent'], ['stalls', 'stalls', 'count', true]] }));
  if (fences.length) section.append(el('h3', {}, 'How long the GPU took'), makeTable({ label: 'Fences', id: 'fence-table', low: true, sort: 'fences', rows: fences, columns: [
    ['driver', 'driver', 'text'], ['timeline', 'timeline', 'text'], ['fences', 'done', 'count'], ['p50_ns', 'p50', 'time'], ['p99_ns', 'p99', 'time'], ['max_ns', 'longest', 'time']] }));
  if (memory.length) section.append(el('h3', {}, 'Memory'), makeTable({ label: 'Memory of GPUs', id: 'memory-table', low: true, sort: 'most_bytes', rows: memory, columns: [
    ['gpu', 'GPU', 'plain'], ['pid', 'pid', 'plain'], ['bytes', 'at the end', 'bytes'], ['most_bytes', 'most', 'bytes']] }));
}

function makeCuda() {
  const calls = all('cuda_calls'), launches = all('cuda_launches'), copies = all('cuda_copies'), layers = all('cuda_layer'), errors = all('cuda_errors');
  if (!calls.length && !launches.length) return;
  const section = shown('cuda'), waits = calls.filter((call) => call.class === 'wait');
  section.append(el('div', { class: 'tiles' }, tile('kernels launched', 'launches', sum(launches.map((row) => row.launches)), number(sum(launches.map((row) => row.launches)))),
    tile('calls', 'calls', sum(calls.map((row) => row.calls)), number(sum(calls.map((row) => row.calls)))),
    tile('waited for the GPU', 'sync_ns', sum(waits.map((row) => row.total_ns)), time(sum(waits.map((row) => row.total_ns)))),
    tile('waited for a CPU in calls', 'wait_ns', sum(calls.map((row) => row.wait_ns)), time(sum(calls.map((row) => row.wait_ns)))),
    tile('errors', 'errors', sum(errors.map((row) => row.count)), number(sum(errors.map((row) => row.count))), errors.length)));
  countChart(section, 'Launches and copies over time.', [['launches', 'launches', 'accent'], ['copies', 'copies', 'role-cpu-bound']], true, number);
  countChart(section, 'Share of the time that the CPU waited for the GPU.', [['sync_ns', 'part of the time that a thread waited for the GPU', 'role-audio']], false, time);
  if (launches.length) section.append(el('h3', {}, 'Launches by kernel'), makeBars(launches.slice(0, 12).map((row) => [row.kernel, row.launches]), number, 'var(--accent)'),
    ...(launches.length <= 12 ? [] : [makeTable({ label: 'Launches by kernel', low: true, sort: 'launches', rows: launches, columns: [['kernel', 'Kernel', 'long'], ['pid', 'pid', 'plain'], ['launches', 'launches', 'count'],
      ['grid', 'grid', 'text'], ['block', 'block', 'text'], ['shared_bytes', 'shared', 'bytes']] })]));
  section.append(el('h3', {}, 'Calls'), makeTable({ label: "CUDA's calls", id: 'cuda-table', sort: 'total_ns', low: true, rows: calls, columns: [
    ['function', 'Function', 'text'], ['class', 'for', 'text'], ['calls', 'calls', 'count'], ['errors', 'errors', 'count', true], ['total_ns', 'in all', 'time'], ['self_ns', 'itself', 'time'],
    ['ioctl_ns', 'in ioctls', 'time'], ['wait_ns', 'without a CPU', 'time'], ['p50_ns', 'p50', 'time'], ['p99_ns', 'p99', 'time'], ['max_ns', 'longest', 'time']] }));
  if (copies.length) section.append(el('h3', {}, 'Copies'), makeTable({ label: 'Copies', id: 'copy-table', low: true, rows: copies, columns:
    Object.keys(copies[0]).filter((key) => !['record', 'schema', 'table', 'clock'].includes(key)).map((key) => [key, key === 'gb_per_s' ? 'GB a second' : key.replace(/_(ns|bytes)$/, '').replace(/_/g, ' '),
      typeof copies[0][key] === 'string' ? 'text' : key === 'gb_per_s' ? 'percent' : key.endsWith('_ns') ? 'time' : key.endsWith('bytes') ? 'bytes' : 'count']) }));
  if (errors.length) section.append(el('h3', {}, 'Calls that failed'), makeTable({ label: 'Calls that failed', id: 'error-table', low: true, sort: 'count', rows: errors, columns: [
    ['function', 'Function', 'text'], ['name', 'result', 'text'], ['result', 'number', 'plain'], ['count', 'times', 'count']] }));
  if (layers.length) section.append(el('h3', {}, 'Where the time of calls goes'), makeBars(layers.map((row) => [row.layer, row.self_ns]), time, 'var(--role-compositor)'));
}

const REMEDIES = ['nothing could be done', 'its cause got no hints for a while', 'it was treated as urgent for a while', 'the scheduler left, hints took over'];
function makeActs() {
  const section = shown('acts'), effects = all('report_effect').map((row) => ({ ...row, who: nameOf(row.name), cause: row.cause_name ? nameOf(row.cause_name) : '', done: REMEDIES[row.what] || '' }));
  const decided = ['preempts', 'decided_moves', 'urgent_misses'].some((field) => (counts[field] || []).some(Boolean));
  if (!decided && !effects.length) {
    if (head.is_live) section.hidden = true;
    section.append(el('p', { class: 'lead' }, 'Nothing that was recorded: either tactus only watched, or it gave hints to the kernel, which leave no events.'));
    return;
  }
  countChart(section, "Decisions of tactus's scheduler over time.", [['preempts', 'others were pushed off a CPU for an urgent thread', 'accent'], ['decided_moves', 'moves to a free CPU', 'role-input'],
    ['urgent_misses', 'urgent threads that waited too long all the same', 'late']], true, number);
  if (effects.length) section.append(el('h3', {}, 'Processes that waited longer because of it, and what was done'), makeTable({ label: 'Effects', id: 'effect-table', low: true, rows: effects, columns: [
    ['at_ns', 'at', 'moment'], ['who', 'who', 'text'], ['acted_p99_ns', 'p99 while acting', 'time'], ['held_p99_ns', 'while not', 'time'], ['cause', 'cause', 'text'], ['done', 'done', 'text']] }));
}

function makeFoot() {
  const lines = [`Made by tactus ${head.version}. The numbers are those that 'tactus frames', 'latency', 'tasks', 'migrations', 'misses', 'gpu' and 'cuda' print for the same recording.`,
    `The pictures over time are sums over ${time(binNs)} each. Frame times in the graph are rounded to microseconds; figures in tables and tiles are not.`,
    el('span', { class: 'screen' }, 'Zoom: drag over a picture, or click it and use the wheel, or plus and minus. Move: arrow keys, or shift and drag. 0 or a double click shows all.')];
  if (head.lost) lines.push(`${number(head.lost)} events were lost while this was recorded.`);
  byId('foot').append(...lines.map((line) => el('p', {}, line)));
}

/* What of it there is, in the order of the page. */
function makeParts() {
  const sections = [...document.querySelectorAll('main > section')].filter((section) => !section.hidden && section.id !== 'verdict');
  byId('parts').replaceChildren(...sections.map((section) => el('a', { href: '#' + section.id }, section.querySelector('h2').textContent)));
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  byId('theme').setAttribute('aria-pressed', dark);
  byId('theme').textContent = dark ? 'Light' : 'Dark';
  colours = {};
  tinted.forEach((tint) => tint());
  redraw();
}
function drawNow() { charts.forEach((chart) => { chart.measure(); chart.draw(); }); }

/* All of it, from the records that there are now. */
function build() {
  const dark = document.documentElement.dataset.theme === 'dark';
  charts.length = tinted.length = printers.length = 0;
  document.querySelectorAll('main > section').forEach((section) => {
    section.replaceChildren(section.querySelector('h2'));
    section.hidden = section.id !== 'verdict';
  });
  [byId('about'), byId('foot'), byId('ruler')].forEach((node) => node.replaceChildren());
  readFrames();
  counts = all('report_counts')[0] || {};
  bins = head.bins;
  binNs = head.bin_ns;
  makeVerdict();
  const series = allSeries.slice().sort((a, b) => b.len - a.len)[0], kinds = all('report_cpu_time');
  makeRuler((pen, x, height) => {
    if (series) {
      const top = Math.max(1, presenters.find((row) => row.pid === series.pid)?.p99_ns * 1.5 || 1);
      columnsOf(series, 0, series.len, 500, [x(0), (x(whole) - x(0)) / whole], (column, longest, late) => {
        const tall = Math.min(1, longest / top) * (height - 3);
        pen.fillStyle = colour(late ? 'late' : 'frame');
        pen.fillRect(column, height - tall, 1.2, tall);
      });
    } else {
      pen.fillStyle = colour('frame');
      for (let bin = 0; bin < bins; bin++) {
        const tall = sum(kinds.map((kind) => kind.cpu_us[bin])) * 1000 / binNs / Math.max(1, head.cpus) * (height - 3);
        pen.fillRect(x(bin * binNs), height - tall, x((bin + 1) * binNs) - x(bin * binNs) + 0.4, tall);
      }
    }
  });
  makeFrames();
  makeClicks();
  makeWaits();
  makeBehind();
  makeCpus();
  makeThreads();
  makeMoves();
  makeTimers();
  makeGpu();
  makeCuda();
  makeSteps();
  makeRun();
  makeActs();
  makeFoot();
  makeParts();
  setTheme(dark);
}

function start() {
  const wish = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  document.documentElement.dataset.theme = wish.matches ? 'dark' : 'light';
  if (all('compare_verdict').length) makeCompare(); else build();
  setTheme(wish.matches);
  wish.addEventListener('change', (event) => { if (chosen === null) setTheme(event.matches); });
  byId('theme').addEventListener('click', () => { chosen = document.documentElement.dataset.theme !== 'dark'; setTheme(chosen); });
  addEventListener('beforeprint', () => { printers.forEach((print) => print()); document.documentElement.dataset.theme = 'light'; colours = {}; tinted.forEach((tint) => tint()); drawNow(); });
  addEventListener('afterprint', () => setTheme(chosen ?? wish.matches));
  follow();
  document.documentElement.dataset.ready = 'yes';
  performance.mark('ready');
}
start();
