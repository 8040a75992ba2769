/* Tables that are sorted by their heads and filtered by words. A column is [field, title, kind]; kinds: text, long, role, count, time, bytes, percent, plain. */
const SHOW = { count: number, time, bytes, percent: (value) => value.toFixed(2), plain: String, moment: (ns) => seconds(ns) };
const isText = (kind) => kind === 'text' || kind === 'long' || kind === 'role';

const printers = [];

function cell(row, [field, , kind, alarm]) {
  const value = row[field];
  if (kind === 'role') return el('td', { class: 'text' }, el('span', { class: 'role ' + value.replace(/[^a-z-]/g, '') }, value));
  if (isText(kind)) return el('td', { class: kind === 'long' ? 'text long' : 'text' }, value ?? '');
  return el('td', { 'data-field': field, 'data-value': value ?? '', class: alarm && value ? 'alarm' : null }, value === null || value === undefined ? '–' : (SHOW[kind] || String)(value));
}

function sortRows(rows, [field, , kind], descending) {
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => sign * (isText(kind) ? String(a[field] ?? '').localeCompare(String(b[field] ?? '')) : (a[field] ?? -1) - (b[field] ?? -1)));
}

function makeTable({ label, rows, columns, sort, id, low, step = 60, filter }) {
  const own = kept.tables.get(label) || { sort, descending: true, most: step, word: '' };
  let list = rows.slice(), chosen = columns.find((column) => column[0] === own.sort), { descending, most, word } = own;
  const body = el('tbody'), state = el('span', { role: 'status' });
  const heads = columns.map((column) => el('th', { scope: 'col', class: isText(column[2]) ? 'text' : null }, el('button', { type: 'button', click: () => {
    descending = chosen === column ? !descending : !isText(column[2]);
    chosen = column;
    refill();
  } }, column[1])));
  const more = el('button', { type: 'button', click: () => { most += step * 4; refill(); } }, 'Show more');
  const refill = () => {
    kept.tables.set(label, { sort: chosen && chosen[0], descending, most, word });
    const words = word.toLowerCase().split(/\s+/).filter(Boolean);
    list = rows.filter((row) => words.every((one) => columns.some(([field, , kind]) => (isText(kind) || kind === 'plain') && String(row[field] ?? '').toLowerCase().includes(one))));
    if (chosen) sortRows(list, chosen, descending);
    heads.forEach((th, i) => (columns[i] === chosen ? th.setAttribute('aria-sort', descending ? 'descending' : 'ascending') : th.removeAttribute('aria-sort')));
    body.replaceChildren(...list.slice(0, most).map((row) => el('tr', {}, columns.map((column) => cell(row, column)))));
    more.hidden = list.length <= most;
    state.textContent = list.length < rows.length ? `${number(list.length)} of ${number(rows.length)}` : list.length > most ? `${number(most)} of ${number(rows.length)} are shown` : '';
  };
  const input = filter && el('input', { type: 'search', value: word, placeholder: filter, 'aria-label': filter, input: (event) => { word = event.target.value; most = step; refill(); } });
  refill();
  printers.push(() => { most = Math.max(most, 200); refill(); });
  return el('div', { class: 'table', id }, filter || rows.length > step ? el('div', { class: 'bar' }, input, state) : null,
    el('div', { class: 'scroll' + (low ? ' low' : ''), tabindex: 0, role: 'region', 'aria-label': label }, el('table', {}, el('thead', {}, el('tr', {}, heads)), body)), more);
}

/* Names with a bar each. */
function makeBars(rows, text, paint = 'var(--frame)') {
  const most = Math.max(1, ...rows.map((row) => row[1]));
  return el('div', { class: 'bars' }, rows.map(([name, value]) => [el('div', { class: 'name' }, name),
    svg('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, svg('rect', { width: value && Math.max(0.4, 100 * value / most), height: 10, rx: 1, fill: paint })),
    el('div', { 'data-value': value }, text(value))]));
}
