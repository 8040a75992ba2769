/* One span of time for all pictures: zoomed and moved by mouse, keys and buttons together. A chart draws itself on a canvas, as often as the
 * screen does and no oftener. */
const LEFT = 62, RIGHT = 10, FOOT = 22;
let whole = Math.max(head.span_ns, 1);
const view = { from: 0, to: whole };
const charts = [];
let waiting = false;

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; charts.forEach((chart) => { if (chart.seen) chart.draw(); }); sayView(); });
}
function setView(from, to) {
  const least = Math.min(whole, Math.max(whole / 1e5, 1e5));
  let span = Math.min(whole, Math.max(least, to - from));
  let begin = Math.min(Math.max(0, from + (to - from - span) / 2), whole - span);
  view.from = begin;
  view.to = begin + span;
  redraw();
}
const zoom = (factor, at = (view.from + view.to) / 2) => setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
const pan = (part) => { const by = (view.to - view.from) * part; setView(view.from + by, view.to + by); };
const showAll = () => setView(0, whole);

function steps(span, most) {
  const rough = span / most, unit = 10 ** Math.floor(Math.log10(rough || 1));
  return [1, 2, 5, 10].map((times) => times * unit).find((step) => step >= rough) || unit * 10;
}

const KEYS = {
  ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: showAll, Home: showAll,
};

class Chart {
  constructor(host, options) {
    Object.assign(this, { height: 180, foot: FOOT, ...options });
    this.canvas = el('canvas', { tabindex: 0, role: 'img', 'aria-label': this.label + ' Arrow keys move, plus and minus zoom, 0 shows all.',
      'aria-keyshortcuts': ['ArrowLeft', 'ArrowRight', '+', '-', '0', ...Object.keys(this.keys || {})].join(' ') });
    this.box = el('div', { class: 'chart' }, this.canvas);
    host.append(this.box);
    this.pen = this.canvas.getContext('2d');
    charts.push(this);
    new ResizeObserver(() => { this.measure(); redraw(); }).observe(this.box);
    /* Who is not looked at need not draw. */
    this.seen = true;
    new IntersectionObserver((entries) => { this.seen = entries[entries.length - 1].isIntersecting; if (this.seen) redraw(); }, { rootMargin: '300px' }).observe(this.box);
    this.measure();
    this.listen();
  }
  measure() {
    const scale = devicePixelRatio || 1;
    this.width = Math.max(120, this.box.clientWidth || 800);
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.canvas.style.height = this.height + 'px';
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
  }
  get inner() { return this.width - LEFT - RIGHT; }
  get deep() { return this.height - this.foot; }
  x(ns) { return LEFT + (ns - view.from) / (view.to - view.from) * this.inner; }
  /* Where a time lies, as an origin and a factor. */
  scale() { const perNs = this.inner / (view.to - view.from); return [LEFT - view.from * perNs, perNs]; }
  at(x) { return view.from + (x - LEFT) / this.inner * (view.to - view.from); }
  draw() {
    const pen = this.pen;
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = '11px system-ui, sans-serif';
    if (this.under) this.under(pen);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, this.inner, this.deep);
    pen.clip();
    this.paint(pen);
    pen.restore();
    if (this.foot) this.times(pen);
    if (this.over) this.over(pen);
  }
  times(pen) {
    const step = steps(view.to - view.from, Math.max(2, this.inner / 90)), digits = Math.max(0, -Math.floor(Math.log10(step / 1e9) + 1e-9));
    pen.fillStyle = colour('soft');
    pen.textAlign = 'center';
    pen.textBaseline = 'top';
    for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
      pen.fillRect(this.x(at), this.deep, 1, 4);
      pen.fillText((at / 1e9).toFixed(Math.min(digits, 9)) + ' s', Math.min(this.x(at), this.width - 20), this.deep + 9);
    }
  }
  /* Lines across with their values beside them. */
  grid(pen, values, y, text) {
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    for (const value of values) {
      pen.fillStyle = colour('grid');
      pen.fillRect(LEFT, Math.round(y(value)), this.inner, 1);
      pen.fillStyle = colour('soft');
      pen.fillText(text(value), LEFT - 8, Math.min(Math.max(y(value), 7), this.deep - 5));
    }
  }
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left) * this.width / box.width, y: (event.clientY - box.top) * this.height / box.height };
  }
  listen() {
    const canvas = this.canvas;
    let pressed = null, pick = null;
    canvas.addEventListener('wheel', (event) => {
      /* The page scrolls under a mouse that only passes by. */
      if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
      else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.at(this.point(event).x));
    }, { passive: false });
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      pressed = { ...this.point(event), from: view.from, to: view.to, moves: event.shiftKey || this.strip };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      const here = this.point(event);
      if (pressed && Math.abs(here.x - pressed.x) > 3) {
        showTip(event, '');
        if (this.drag) { this.drag(here.x, pressed); return; }
        if (pressed.moves) {
          const by = (pressed.x - here.x) / this.inner * (pressed.to - pressed.from);
          setView(pressed.from + by, pressed.to + by);
          return;
        }
        if (!pick) this.box.append(pick = el('div', { class: 'pick' }));
        pick.style.left = Math.max(LEFT, Math.min(pressed.x, here.x)) + 'px';
        pick.style.width = Math.abs(here.x - pressed.x) + 'px';
      } else if (!pressed && this.hover) {
        showTip(event, here.x >= LEFT && here.x <= this.width - RIGHT && here.y < this.deep ? this.hover(here.x, here.y) : '');
      }
    });
    const release = (event) => {
      const here = this.point(event);
      if (pick) {
        const [a, b] = [this.at(pressed.x), this.at(here.x)].sort((one, other) => one - other);
        pick.remove();
        setView(Math.max(a, view.from), Math.min(b, view.to));
      } else if (pressed && Math.abs(here.x - pressed.x) <= 3) {
        if (this.drag) this.drag(here.x, pressed);
        else if (this.click) this.click(here.x, here.y);
      }
      pressed = pick = null;
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', () => { if (pick) pick.remove(); pressed = pick = null; });
    canvas.addEventListener('pointerleave', (event) => showTip(event, ''));
    canvas.addEventListener('dblclick', showAll);
    canvas.addEventListener('keydown', (event) => {
      const act = (this.keys && this.keys[event.key]) || KEYS[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }
}

/* Fields of a grid, a stretch of time wide and a row tall, as pixels of a picture that is made once: to draw them takes a stroke a row, however many there are.
 * `tint` gives red, green, blue and how much of it, or nothing. */
class Grid {
  constructor(rows, tint) { Object.assign(this, { rows, tint, made: null, madeOf: null }); }
  picture() {
    if (this.made && this.madeOf === colours) return this.made;
    const picture = el('canvas', { width: Math.max(1, bins), height: Math.max(1, this.rows) }), pen = picture.getContext('2d'), image = pen.createImageData(picture.width, picture.height);
    for (let row = 0; row < this.rows; row++) {
      for (let bin = 0; bin < bins; bin++) {
        const tint = this.tint(bin, row);
        if (tint) image.data.set([tint[0], tint[1], tint[2], 255 * tint[3]], 4 * (row * picture.width + bin));
      }
    }
    pen.putImageData(image, 0, 0);
    this.madeOf = colours;
    return this.made = picture;
  }
  draw(chart, pen, tall, gap) {
    const first = Math.max(0, Math.floor(view.from / binNs)), last = Math.min(bins - 1, Math.floor(view.to / binNs)), from = chart.x(first * binNs), to = chart.x((last + 1) * binNs);
    if (last < first) return;
    pen.imageSmoothingEnabled = false;
    for (let row = 0; row < this.rows; row++) pen.drawImage(this.picture(), first, row, last + 1 - first, 1, from, row * tall, to - from, tall - gap);
  }
}

const viewText = el('span', { class: 'span', role: 'status', 'aria-live': 'polite' });
function sayView() {
  const text = view.to - view.from >= whole ? `all ${seconds(whole, 2)}` : `${seconds(view.from)} to ${seconds(view.to)} of ${seconds(whole, 2)}`;
  if (viewText.textContent !== text) viewText.textContent = text;
}

/* What is shown of everything, below which the pictures scroll. */
function makeRuler(strip) {
  const button = (text, label, act) => el('button', { type: 'button', 'aria-label': label, title: label, click: act }, text);
  byId('ruler').append(
    button('−', 'Zoom out', () => zoom(2)), button('+', 'Zoom in', () => zoom(0.5)), button('◂', 'Earlier', () => pan(-0.5)),
    button('▸', 'Later', () => pan(0.5)), button('All', 'Show all of the time', showAll), viewText);
  const host = el('div', { class: 'strip' });
  byId('ruler').append(host);
  const chart = new Chart(host, {
    label: 'All of the time, and the part that is shown.', height: 34, foot: 0, strip: true,
    paint(pen) {
      const x = (ns) => LEFT + ns / whole * this.inner;
      pen.fillStyle = colour('grid');
      pen.fillRect(LEFT, this.height - 1, this.inner, 1);
      strip(pen, x, this.height);
      pen.globalAlpha = 0.14;
      pen.fillStyle = colour('accent');
      pen.fillRect(x(view.from), 0, Math.max(2, x(view.to) - x(view.from)), this.height);
      pen.globalAlpha = 1;
      for (const at of [view.from, view.to]) pen.fillRect(Math.min(x(at), this.width - RIGHT - 2), 0, 2, this.height);
    },
    drag(here) {
      const at = (here - LEFT) / this.inner * whole, half = (view.to - view.from) / 2;
      setView(at - half, at + half);
    },
  });
  return chart;
}
