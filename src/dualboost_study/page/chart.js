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

// A series of one method; what is drawn later is thinner, so that it does not cover what lies below.
function drawSeries(svg, series, k, n, X, Y, floor, told) {
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
    told.push({ mark, place: places[i], text: p.tip });
  });
  svg.append(group);
}

// Marks at one place tell of all that is there.
function tellMarks(told) {
  const at = new Map(), key = ([x, y]) => `${Math.round(x / 2)},${Math.round(y / 2)}`;
  for (const one of told) at.set(key(one.place), [...new Set([...(at.get(key(one.place)) || []), one.text])]);
  for (const one of told) { const texts = at.get(key(one.place)); tip(one.mark, [one.text, ...texts.filter(t => t !== one.text)].slice(0, 8).join("\n")); }
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
  const told = [], drawn = series.filter(s => s.points.some(p => isNumber(p.x) && isNumber(p.y)));
  drawn.forEach((s, k) => drawSeries(svg, s.bar ? { ...s, bar: Math.max(1, .8 * Math.abs(xs.place(1) - xs.place(0))) } : s, k, drawn.length, xs.place, ys.place, floor, told));
  tellMarks(told);
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
