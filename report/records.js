'use strict';
/* The records of the page, and small helpers. Text from outside goes into the page by textContent alone: there is no other way here. */
/* Characters that are not seen, or turn around what is beside them, show as in a terminal. */
const plain = (_, value) => (typeof value === 'string' ? value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '?') : value);
let records = [], head = {}, names = [];
const all = (kind) => records.filter((record) => record.record === kind);
function readRecords(text) {
  records = text.split('\n').filter(Boolean).map((line) => JSON.parse(line, line.includes('\\u') ? plain : undefined));
  head = all('report')[0] || { span_ns: 0, bins: 0, bin_ns: 1 };
  names = (all('report_names')[0] || { names: [] }).names;
  /* Of a run that only tells of itself the time is that of what it told. */
  const run = all('run_second');
  if (head.span_ns || !run.length) return;
  head.wall_ns = run[0].wall_ns - run[0].span_ns;
  head.span_ns = run[run.length - 1].wall_ns - head.wall_ns;
}
readRecords(document.getElementById('records').textContent);
/* What somebody chose stays chosen when a page that is served is drawn anew. */
const kept = { tables: new Map(), rolesOff: new Set(), pid: 0, late: null, everything: false };
const nameOf = (number) => names[number] ?? '?';
const byId = (id) => document.getElementById(id);
const ROLES = ['unknown', 'render', 'input', 'audio', 'network', 'compositor', 'background', 'cpu-bound', 'unwatched'];

/* An element with attributes; functions are listeners; what follows goes in as text or as elements. */
function fill(node, attributes, inside) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === 'function') node.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value);
  }
  for (const one of inside.flat(Infinity)) if (one !== null && one !== undefined) node.append(one);
  return node;
}
const el = (tag, attributes, ...inside) => fill(document.createElement(tag), attributes, inside);
const svg = (tag, attributes, ...inside) => fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, inside);

/* As the program prints them: three digits that matter and a unit. */
function time(ns) {
  if (!ns) return '0';
  for (const [unit, word] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]) {
    const value = ns / unit;
    if (value < 0.9995) continue;
    return value.toFixed(value >= 99.95 || unit === 1 ? 0 : value >= 9.995 ? 1 : 2) + ' ' + word;
  }
  return '0';
}
/* Beside a line across: 50 ms, not 50.0 ms. */
const tick = (ns) => (ns ? time(ns).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ') : '0');
function bytes(count) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let unit = 0;
  while (count >= 1023.5 && unit + 1 < units.length) { count /= 1024; unit++; }
  return count.toFixed(unit === 0 || count >= 99.95 ? 0 : count >= 9.995 ? 1 : 2) + ' ' + units[unit];
}
/* A number and its unit stay on one line. */
const together = (text) => text.replace(/(\d) (ms|us|ns|s|%)(?!\w)/g, '$1\u00a0$2');
const number = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',');
const seconds = (ns, digits = 3) => (ns / 1e9).toFixed(digits) + ' s';
const share = (part, whole) => (whole ? (100 * part / whole).toFixed(1) : '0.0') + ' %';
const sum = (list) => list.reduce((a, b) => a + b, 0);
const shown = (id) => { const section = byId(id); section.hidden = false; return section; };

/* A tile with one figure; the raw number stays beside what is shown of it. */
function tile(label, field, value, text, alarm) {
  return el('div', { class: 'tile' + (alarm ? ' alarm' : '') }, el('b', { 'data-field': field, 'data-value': value }, text), el('span', {}, label));
}

/* Colours come from the style sheet, so that both themes and paper have their own. */
let colours = {};
const colour = (name) => colours[name] ?? (colours[name] = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
const roleColour = (role) => colour('role-' + (role === 'not watched' ? 'unwatched' : role));
const channels = (text) => (text[0] === '#' ? [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) : text.match(/[\d.]+/g).slice(0, 3).map(Number));
function mixed(from, to, part) {
  const [a, b] = [channels(from), channels(to)];
  return a.map((value, i) => Math.round(value + (b[i] - value) * part));
}
const mix = (from, to, part) => `rgb(${mixed(from, to, part).join(',')})`;

/* As WCAG has it: 4.5 is what text takes, 3 what a picture does. */
function contrast(one, other) {
  const light = (text) => sum(channels(text).map((value) => value / 255).map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)).map((value, i) => value * [0.2126, 0.7152, 0.0722][i]));
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
/* On any colour one of the two has 4.58 or more. */
const inkOn = (ground) => (contrast(ground, '#000000') > contrast(ground, '#ffffff') ? '#000000' : '#ffffff');

const tip = byId('tip');
function showTip(event, text) {
  if (!text) { tip.hidden = true; return; }
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = (event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18) + 'px';
}

function legend(items) {
  return el('ul', { class: 'legend' }, items.map(([name, text, tall = 10]) =>
    el('li', {}, svg('svg', { viewBox: '0 0 10 10', 'aria-hidden': 'true' }, svg('rect', { y: (10 - tall) / 2, width: 10, height: tall, rx: tall > 3 ? 2 : 1, fill: `var(--${name})` })), text)));
}
