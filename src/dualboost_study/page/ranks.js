// Mean ranks over the data sets, as a diagram of critical differences (Demsar 2006).
function diagram(table) {
  const names = Object.keys(table.ranks), n = names.length, half = Math.ceil(n / 2), width = 400, left = 106, right = width - 106;
  const X = rank => left + (rank - 1) / (n - 1) * (right - left), top = 52, step = 18, bars = table.groups.length * 8;
  const height = top + bars + 16 + half * step, svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `ranks, depth ${table.depth}` });
  const line = (x1, y1, x2, y2, w = 1) => draw("line", { class: "rule", x1, y1, x2, y2, "stroke-width": w });
  svg.append(line(X(1), top, X(n), top));
  for (let k = 1; k <= n; k++) svg.append(line(X(k), top - 5, X(k), top), draw("text", { class: "x tick", x: X(k), y: top - 9, "text-anchor": "middle" }, k));
  const wide = Math.min(table.critical_difference, n - 1);
  svg.append(line(X(1), 20, X(1 + wide), 20, 2), draw("text", { x: X(1), y: 13 }, `critical difference ${fixed(table.critical_difference, 2)}`));
  table.groups.forEach((group, k) => svg.append(line(X(table.ranks[group[0]]) - 3, top + 6 + 8 * k, X(table.ranks[group[group.length - 1]]) + 3, top + 6 + 8 * k, 4)));
  names.forEach((m, k) => {
    const isLeft = k < half, y = top + bars + 16 + step * (isLeft ? k : n - 1 - k), x = X(table.ranks[m]), end = isLeft ? left - 8 : right + 8;
    const mark = marker(shape(m), x, top, 4);
    mark.setAttribute("fill", colour(m));
    tip(mark, `${title(m)}: mean rank ${fixed(table.ranks[m], 2)}`);
    svg.append(draw("path", { d: `M${x},${top}V${y}H${end}`, fill: "none", stroke: colour(m), "stroke-width": 1.4 }), mark,
      draw("text", { class: "name", x: isLeft ? end - 4 : end + 4, y: y + 4, "text-anchor": isLeft ? "end" : "start" }, `${title(m)} ${fixed(table.ranks[m], 2)}`));
  });
  return make("figure", {}, svg, make("figcaption", {}, `${table.experiment}, depth ${table.depth}: Friedman's test p ${table.friedman_p < .0001 ? "< 0.0001" : `= ${short(table.friedman_p)}`}`));
}

section("significance", "Significance", "Mean ranks over the data sets: 1 is best. Methods that a bar joins are not told apart (Nemenyi, 5 %).", box => {
  const tables = D.tables.filter(t => t.experiment === state.experiment), told = tables.filter(t => t.ranks);
  if (told.length) box.append(make("div", { class: "charts" }, ...told.map(diagram)));
  else box.append(make("p", {}, "Ranks need at least five data sets and three methods."));
});
