// Elements of the page, and numbers as text.
const NS = "http://www.w3.org/2000/svg";
const $ = id => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function draw(tag, attributes, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Lists of entries with the same names were packed into tables.
function unpacked(value) {
  if (Array.isArray(value)) return value.map(unpacked);
  if (value === null || typeof value !== "object") return value;
  const names = Object.keys(value);
  if (names.length === 2 && Array.isArray(value.columns) && Array.isArray(value.rows)) {
    return value.rows.map(row => Object.fromEntries(value.columns.map((name, k) => [name, unpacked(row[k])])));
  }
  return Object.fromEntries(names.map(name => [name, unpacked(value[name])]));
}

const D = unpacked(JSON.parse($("data").textContent));
const NAMES = Object.keys(D.methods), title = method => D.methods[method] ?? method;
const known = methods => methods.filter(method => method in D.methods);

const isNumber = value => value !== null && value !== undefined;
const fixed = (value, digits = 3) => isNumber(value) ? value.toFixed(digits) : "";
const signed = (value, digits = 3) => isNumber(value) ? (value > 0 ? "+" : "") + value.toFixed(digits) : "";
// Three digits, never as a power of ten.
const short = value => !isNumber(value) ? "" : value !== 0 && Math.abs(value) < 1e-4 ? "below 0.0001" : String(+value.toPrecision(3));
const seconds = value => !isNumber(value) ? "" : value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value >= .01 ? value.toFixed(3) : value.toFixed(4);
const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
const sorted = values => [...values].sort((a, z) => a - z);
function quantile(values, q) {
  const ordered = sorted(values), k = (ordered.length - 1) * q, i = Math.floor(k);
  return ordered[i] + (ordered[Math.min(i + 1, ordered.length - 1)] - ordered[i]) * (k - i);
}

// The tip of a mark under the pointer or with the keyboard focus.
function tip(mark, text) {
  mark.setAttribute("tabindex", "0");
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", text);
  mark.classList.add("mark");
  const show = () => {
    const box = mark.getBoundingClientRect(), t = $("tip");
    t.textContent = text;
    t.style.display = "block";
    t.style.left = Math.max(4, Math.min(box.x, innerWidth - t.offsetWidth - 8)) + "px";
    t.style.top = Math.max(4, box.y - t.offsetHeight - 6) + "px";
  };
  const hide = () => { $("tip").style.display = "none"; };
  for (const event of ["mouseenter", "focus"]) mark.addEventListener(event, show);
  for (const event of ["mouseleave", "blur"]) mark.addEventListener(event, hide);
}

// Axes: which numbers are ticks, and where a value lies.
function niceStep(span, most = 6) {
  const power = 10 ** Math.floor(Math.log10(span / 3));
  return [1, 2, 5, 10].find(factor => span / (factor * power) <= most) * power;
}

function multiples(step, low, high) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(+(k * step).toPrecision(10));
  return found;
}

// Powers of ten, and halves and fifths of them where there are few powers.
function powers(low, high) {
  const factors = Math.log10(high / low) > 3 ? [1] : Math.log10(high / low) > 1.3 ? [1, 3] : [1, 2, 5], found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const factor of factors) found.push(+(factor * 10 ** power).toPrecision(6));
  return found.filter(value => value >= low * .999 && value <= high * 1.001);
}

// An axis of a kind: "linear", "whole" (ticks at whole numbers only), "log", or one with given ticks or names.
function axis(spec, values, from, to) {
  let low = Math.min(...values), high = Math.max(...values);
  if (spec.kind === "log") {
    if (low === high) { low /= 2; high *= 2; }
    const [a, z] = [Math.log(low), Math.log(high)], pad = (z - a) * .05, place = v => from + (Math.log(v) - a + pad) / (z - a + 2 * pad) * (to - from);
    const ends = [Math.exp(a - pad), Math.exp(z + pad)];
    return { place, ticks: (spec.ticks ? spec.ticks.filter(v => v >= ends[0] && v <= ends[1]) : powers(...ends)).map(v => [v, String(v)]) };
  }
  if (spec.zero) low = Math.min(0, low);
  if (spec.room) { low -= spec.room; high += spec.room; }
  if (low === high) { const room = spec.kind === "whole" || spec.names || spec.ticks ? .5 : .01; low -= room; high += room; }
  const pad = (high - low) * .05, start = low - (spec.zero && low === 0 ? 0 : pad), end = high + pad;
  const place = v => from + (v - start) / (end - start) * (to - from);
  if (spec.names) return { place, ticks: spec.names.map((name, k) => [k, name]) };
  if (spec.ticks) return { place, ticks: spec.ticks.filter(v => v >= start && v <= end).map(v => [v, String(v)]) };
  const step = niceStep(end - start), least = spec.kind === "whole" ? Math.max(1, Math.round(step)) : step;
  const first = spec.kind === "whole" ? Math.max(start, spec.least ?? 0) : start;
  const digits = Math.max(0, -Math.floor(Math.log10(least) + 1e-9));
  return { place, ticks: multiples(least, first, end).map(v => [v, v.toFixed(digits)]) };
}

// Charts: series of points, lines, steps, bars and boxes, with a legend that shows and hides methods.
const COLOURS = ["#3b76c8", "#e07b28", "#2f9e57", "#c8504b", "#8a63c9", "#8d6e54", "#d265b0", "#7d8590", "#b3a125", "#1fa3b0", "#8fb8ee", "#f0b57d", "#7fd19b", "#ec9a96", "#bda5e6", "#bfa58f", "#ebaad6", "#4d5560", "#d6ca6f", "#86d3da", "#a8385b", "#5c8a1e"];
const SHAPES = ["circle", "square", "triangle", "diamond", "cross"];
const WIDTH = 400, HEIGHT = 270, EDGE = { left: 52, right: 12, top: 10, bottom: 38 };
const index = method => Math.max(0, NAMES.indexOf(method));
const colour = method => COLOURS[index(method) % COLOURS.length];
const shape = method => SHAPES[index(method) % SHAPES.length];
const dash = method => D.ours.includes(method) ? "" : "6 3";
const hidden = new Set();

function marker(kind, x, y, r) {
  const path = {
    circle: `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    square: `M${x - r * .9},${y - r * .9}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
    triangle: `M${x},${y - 1.2 * r}l${1.15 * r},${2.1 * r}h${-2.3 * r}z`,
    diamond: `M${x},${y - 1.3 * r}l${1.2 * r},${1.3 * r}l${-1.2 * r},${1.3 * r}l${-1.2 * r},${-1.3 * r}z`,
    cross: `M${x - r},${y - r * .4}h${r * .6}v${-r * .6}h${r * .8}v${r * .6}h${r * .6}v${r * .8}h${-r * .6}v${r * .6}h${-r * .8}v${-r * .6}h${-r * .6}z`,
  };
  return draw("path", { d: path[kind] });
}

// Points as a line, or as steps: a value holds until the next one.
function trace(places, steps) {
  return places.map(([x, y], i) => i === 0 ? `M${x},${y}` : steps ? `H${x}V${y}` : `L${x},${y}`).join("");
}

// A series of one method; later lines are thinner, so that they do not cover earlier ones.
function drawSeries(svg, series, k, n, X, Y, floor, tipEntries) {
  const group = draw("g", series.method ? { "data-method": series.method } : {});
  if (hidden.has(series.method)) group.classList.add("hidden");
  const points = series.points.filter(p => isNumber(p.x) && isNumber(p.y)), places = points.map(p => [+X(p.x).toFixed(2), +Y(p.y).toFixed(2)]);
  const thin = n > 1 ? k / (n - 1) : 1;
  if (series.line && points.length) {
    group.append(draw("path", { class: "line", d: trace(places, series.steps), fill: "none", stroke: series.colour, "stroke-width": (3.4 - 1.8 * thin).toFixed(2), "stroke-dasharray": series.dash || "" }));
  }
  points.forEach((p, i) => {
    if (p.spread) group.append(draw("line", { x1: places[i][0], x2: places[i][0], y1: Y(p.y - p.spread), y2: Y(p.y + p.spread), stroke: series.colour, opacity: .5 }));
    if (series.line && points.length > 25 && i % Math.ceil(points.length / 12) && i < points.length - 1) return;
    const mark = series.bar
      ? draw("rect", { x: places[i][0] - series.bar / 2, y: places[i][1], width: series.bar, height: Math.max(.5, floor - places[i][1]) })
      : marker(series.shape || "circle", ...places[i], series.line ? 3.2 - thin : 5);
    mark.setAttribute("fill", series.colour);
    mark.setAttribute("fill-opacity", series.line || series.bar ? .9 : .7);
    if (series.hollow) { mark.setAttribute("fill", "none"); mark.setAttribute("stroke", series.colour); mark.setAttribute("stroke-width", 1.6); }
    group.append(mark);
    tipEntries.push({ mark, place: places[i], text: p.tip });
  });
  svg.append(group);
}

// Marks at one place share a tip with all of their texts.
function labelMarks(tipEntries) {
  const at = new Map(), key = ([x, y]) => `${Math.round(x / 2)},${Math.round(y / 2)}`;
  for (const one of tipEntries) at.set(key(one.place), [...new Set([...(at.get(key(one.place)) || []), one.text])]);
  for (const one of tipEntries) { const texts = at.get(key(one.place)); tip(one.mark, [one.text, ...texts.filter(t => t !== one.text)].slice(0, 8).join("\n")); }
}

function drawAxes(svg, x, y, xs, ys) {
  const { left, right, top, bottom } = EDGE, low = HEIGHT - bottom;
  for (const [value, label] of xs.ticks) svg.append(
    draw("line", { class: "axis", x1: xs.place(value), x2: xs.place(value), y1: top, y2: low }),
    draw("text", { class: "x tick", x: xs.place(value), y: low + 15, "text-anchor": "middle" }, label));
  for (const [value, label] of ys.ticks) svg.append(
    draw("line", { class: "axis", x1: left, x2: WIDTH - right, y1: ys.place(value), y2: ys.place(value) }),
    draw("text", { class: "y tick", x: left - 5, y: ys.place(value) + 4, "text-anchor": "end" }, label));
  const middle = (top + low) / 2;
  svg.append(draw("text", { class: "label", x: (left + WIDTH - right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, x.label),
    draw("text", { class: "label", x: 11, y: middle, transform: `rotate(-90 11 ${middle})`, "text-anchor": "middle" }, y.label));
}

// x and y: the axes (see axes.js) with their labels. A series: method, colour, points {x, y, tip, spread}, line, steps, bar, dash, shape.
function chart(caption, x, y, series) {
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": caption });
  const figure = make("figure", {}, svg, make("figcaption", {}, caption));
  const points = series.flatMap(s => s.points).filter(p => isNumber(p.x) && isNumber(p.y));
  if (!points.length) {
    svg.append(draw("text", { x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "no results for this choice"));
    return figure;
  }
  const floor = HEIGHT - EDGE.bottom;
  const xs = axis(x, points.map(p => p.x), EDGE.left, WIDTH - EDGE.right);
  const ys = axis(y, points.flatMap(p => p.spread ? [p.y - p.spread, p.y + p.spread] : [p.y]), floor, EDGE.top);
  drawAxes(svg, x, y, xs, ys);
  const tipEntries = [], drawn = series.filter(s => s.points.some(p => isNumber(p.x) && isNumber(p.y)));
  drawn.forEach((s, k) => drawSeries(svg, s.bar ? { ...s, bar: Math.max(1, .8 * Math.abs(xs.place(1) - xs.place(0))) } : s, k, drawn.length, xs.place, ys.place, floor, tipEntries));
  labelMarks(tipEntries);
  return figure;
}

const ofMethod = method => ({ method, colour: colour(method), shape: shape(method), dash: dash(method) });

function applyHidden(root) {
  for (const group of root.querySelectorAll("[data-method]")) group.classList.toggle("hidden", hidden.has(group.dataset.method));
  for (const button of root.querySelectorAll(".legend button")) button.setAttribute("aria-pressed", String(!hidden.has(button.dataset.of)));
}

// One entry for each method that is drawn; a click hides a method and shows it again, pointing at it dims the others.
function legend(methods) {
  const dim = (box, method) => { for (const g of box.closest("section").querySelectorAll("[data-method]")) g.classList.toggle("dim", method !== null && g.dataset.method !== method); };
  const box = make("div", { class: "legend", role: "group", "aria-label": "Methods: click to hide or show" });
  for (const method of known(methods)) {
    const sample = draw("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" }), mark = marker(shape(method), 13, 6, 3.6);
    mark.setAttribute("fill", colour(method));
    sample.append(draw("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke: colour(method), "stroke-width": 2, "stroke-dasharray": dash(method) }), mark);
    const button = make("button", { type: "button", "data-of": method, "aria-pressed": String(!hidden.has(method)) }, sample, title(method));
    button.addEventListener("click", () => { hidden.has(method) ? hidden.delete(method) : hidden.add(method); applyHidden(document); });
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => dim(box, method));
    for (const event of ["mouseleave", "blur"]) button.addEventListener(event, () => dim(box, null));
    box.append(button);
  }
  return box;
}

// Charts below the legend of the methods that they show.
function withLegend(box, ...charts) {
  const shown = new Set(charts.flatMap(c => [...c.querySelectorAll("[data-method]")].map(g => g.dataset.method)));
  box.append(legend(NAMES.filter(method => shown.has(method))), make("div", { class: "charts" }, ...charts));
}
