/* A page that is served: what a 'tactus run' tells of itself, and everything anew every two seconds. */
const EVERY_MS = 2000;

/* Lines of what each second of the run told. */
function runChart(section, label, rows, lines, text) {
  const most = Math.max(1, ...rows.flatMap((row) => lines.map(([of]) => of(row)))), at = (row) => row.wall_ns - head.wall_ns;
  section.append(el('h3', {}, label), legend(lines.map(([of, words, paint]) => [paint, `${words}: ${text(of(rows[rows.length - 1]))}`])));
  new Chart(section, {
    label: label + '.', height: 120,
    under(pen) {
      const step = steps(most, 3), marks = [];
      for (let value = 0; value <= most * 1.02; value += step) marks.push(value);
      this.grid(pen, marks, (value) => this.deep - value / most * (this.deep - 8), text);
    },
    paint(pen) {
      for (const [of, , paint] of lines) {
        pen.strokeStyle = colour(paint);
        pen.lineWidth = 1.6;
        pen.beginPath();
        for (const row of rows) {
          const y = this.deep - of(row) / most * (this.deep - 8);
          pen.lineTo(this.x(at(row) - row.span_ns), y);
          pen.lineTo(this.x(at(row)), y);
        }
        pen.stroke();
      }
    },
    hover(x) {
      const row = rows.find((one) => at(one) >= this.at(x));
      return row ? lines.map(([of, words]) => `${words}: ${text(of(row))}`).join('\n') : '';
    },
  });
}

function makeRun() {
  const rows = all('run_second'), last = rows[rows.length - 1];
  if (!last) return;
  const section = shown('run'), tiers = last.threads_by_tier, total = last.busy_ns + last.idle_ns;
  section.append(el('p', { class: 'lead' }, `What 'tactus run' tells of itself, the last ${number(rows.length)} seconds; it ${last.actuator === 'none' ? 'only watches' : `acts by ${last.actuator}`}.`),
    el('div', { class: 'tiles' }, tile('busy', 'busy', last.busy_ns, share(last.busy_ns, total)), tile('urgent threads', 'urgent', tiers.urgent, number(tiers.urgent)),
      tile('batch threads', 'batch', tiers.batch, number(tiers.batch)), tile('p99 wait, urgent', 'wait_p99_ns', last.wait_p99_ns.urgent, time(last.wait_p99_ns.urgent)),
      tile('hints given', 'hints_given', last.hints.given, number(last.hints.given)), tile('waited too long', 'deadline_misses', last.deadline_misses, number(last.deadline_misses), last.deadline_misses)));
  runChart(section, 'Waits for a CPU, 99 of 100 are under', rows, [[(row) => row.wait_p99_ns.urgent, 'urgent', 'accent'], [(row) => row.wait_p99_ns.normal, 'normal', 'role-input'],
    [(row) => row.wait_p99_ns.batch, 'batch', 'role-background']], (value) => time(value));
  runChart(section, 'Switches and moves a second', rows, [[(row) => row.switches / (row.span_ns / 1e9), 'switches', 'accent'], [(row) => row.moves / (row.span_ns / 1e9), 'moves', 'role-cpu-bound']], number);
}

/* Where somebody is: so that drawing anew takes nothing away from him. */
const labelOf = (node) => (node && node !== document.body ? node.id || node.getAttribute('aria-label') || node.textContent : '');
function drawAnew(text) {
  const before = { from: view.from, to: view.to, all: view.to - view.from >= whole, began: head.from_ns }, focus = document.activeElement, label = labelOf(focus);
  const caret = focus && focus.tagName === 'INPUT' && focus.type === 'search' ? focus.selectionStart : null, top = scrollY;
  const scrolled = [...document.querySelectorAll('.scroll')].map((node) => [node.getAttribute('aria-label'), node.scrollTop]);
  readRecords(text);
  whole = Math.max(head.span_ns, 1);
  build();
  if (before.all || before.began !== head.from_ns) showAll(); else setView(before.from, before.to);
  for (const node of document.querySelectorAll('.scroll')) node.scrollTop = (scrolled.find(([name]) => name === node.getAttribute('aria-label')) || [0, 0])[1];
  const again = label && [...document.querySelectorAll('canvas, button, input, select, .scroll')].find((node) => node.tagName === focus.tagName && labelOf(node) === label);
  if (again && again !== document.activeElement) {
    again.focus({ preventScroll: true });
    if (caret !== null) again.setSelectionRange(caret, caret);
  }
  scrollTo({ top, behavior: 'instant' });
}

function follow() {
  if (!head.is_live || location.protocol === 'file:') return;
  const hold = byId('hold'), state = el('span', { id: 'live', role: 'status' }, 'live');
  let held = false, pressed = false;
  hold.before(state);
  hold.hidden = false;
  hold.addEventListener('click', () => { held = !held; hold.setAttribute('aria-pressed', held); hold.textContent = held ? 'Go on' : 'Hold'; state.textContent = held ? 'held' : 'live'; });
  addEventListener('pointerdown', () => { pressed = true; });
  for (const event of ['pointerup', 'pointercancel']) addEventListener(event, () => { pressed = false; });
  const look = async () => {
    if (!held && !pressed && !document.hidden) {
      try {
        const answer = await fetch('records' + location.search, { cache: 'no-store' });
        if (!answer.ok) throw new Error(String(answer.status));
        const text = await answer.text();
        if (!held && !pressed) drawAnew(text);
        if (!held) state.textContent = 'live';
        document.documentElement.dataset.updates = Number(document.documentElement.dataset.updates || 0) + 1;
      } catch (error) {
        state.textContent = 'it does not answer: has it ended?';
      }
    }
    setTimeout(look, EVERY_MS);
  };
  setTimeout(look, EVERY_MS);
}
