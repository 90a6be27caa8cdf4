// Accuracy and trees: ours beside the paper's, against each other, and as differences to XGBoost.
const paperOf = table => D.paper.find(t => t.experiment === table.experiment && t.depth === table.depth);

function figuresAt(table, dataset, method) {
  const i = table.datasets.indexOf(dataset), j = table.methods.indexOf(method);
  return i < 0 || j < 0 || !isNumber(table.accuracy[i][j]) ? null : { accuracy: table.accuracy[i][j], trees: table.trees[i][j], best: table.best[i][j], bestOurs: table.best_ours[i][j] };
}

function accuracyCell(table, dataset, method) {
  const ours = figuresAt(table, dataset, method), theirs = figuresAt(paperOf(table), dataset, method);
  if (!ours) return "";
  const figure = fixed(ours.accuracy) + (ours.bestOurs ? "*" : "");
  const content = [ours.best ? make("b", {}, figure) : figure, ` / ${fixed(ours.trees, 1)}`];
  if (theirs) content.push(make("span", { class: "paper" }, `${fixed(theirs.accuracy)} / ${fixed(theirs.trees, 0)}`));
  return content;
}

// Over the data sets that every method has.
function summaryLines(table) {
  const whole = table.accuracy.map(row => row.every(isNumber)), column = (values, j) => values.filter((row, i) => whole[i]).map(row => row[j]);
  return [["mean", mean], ["median", values => quantile(values, .5)]].map(([name, f]) => [name, ...table.methods.map((m, j) => whole.some(w => w) ? `${fixed(f(column(table.accuracy, j)))} / ${fixed(f(column(table.trees, j)), 1)}` : "")]);
}

section("tables", "Accuracy and trees", "Test accuracy / trees used, means over the seeds, and below in small print the paper's. Bold: best of all; *: best totally corrective method. Mean and median are over the data sets that every method has. Click a heading to sort.", box => {
  for (const t of D.tables.filter(t => t.experiment === state.experiment && t.depth === state.depth)) {
    const shown = t.datasets.map((name, i) => ({ keys: [name, ...t.accuracy[i]], cells: [name, ...t.methods.map(m => accuracyCell(t, name, m))] }));
    box.append(sortable(["data set", ...t.methods.map(title)], shown.filter(row => !state.dataset || row.keys[0] === state.dataset), summaryLines(t)));
  }
  if (!box.querySelector("table")) box.append(make("p", {}, "These results have no such experiment at this depth."));
});

// The mean trees and accuracy of a method, over these data sets.
function meanOf(table, method, datasets) {
  const at = datasets.map(name => figuresAt(table, name, method));
  return { x: mean(at.map(f => f.trees)), y: mean(at.map(f => f.accuracy)) };
}

const wholeDatasets = table => table.datasets.filter((name, i) => table.accuracy[i].every(isNumber));

section("scatter", "Accuracy against sparsity", "Means over the data sets that every method has: up and to the left is better.", box => {
  const charts = D.tables.filter(t => t.experiment === state.experiment).map(t => chart(`${t.experiment}, depth ${t.depth}`, { label: "trees used", kind: "whole" }, { label: "test accuracy" }, wholeDatasets(t).length ? t.methods.map(m => {
    const at = meanOf(t, m, wholeDatasets(t));
    return { ...ofMethod(m), points: [{ ...at, tip: `${title(m)}: ${fixed(at.y)} with ${fixed(at.x, 1)} trees` }] };
  }) : []));
  withLegend(box, ...charts);
});

section("comparison", "Beside the paper", "Accuracy minus XGBoost's in the same run, ours and the paper's; CART trees. The last column: the median over data sets of how far the two differences are apart.", box => {
  const rows = D.comparison.methods.filter(r => r.depth === state.depth);
  if (!rows.length) { box.append(make("p", {}, "These results have nothing at this depth that the paper has, with XGBoost beside it.")); return; }
  box.append(sortable(["method", "ours − XGBoost", "paper: method − XGBoost", "our trees", "paper's trees", "median |difference|"], rows.map(r => ({
    keys: [title(r.method), r.difference, r.paper_difference, r.trees, r.paper_trees, r["median |strays|"]],
    cells: [title(r.method), signed(r.difference, 4), signed(r.paper_difference, 4), fixed(r.trees, 1), fixed(r.paper_trees, 1), fixed(r["median |strays|"], 4)],
  }))));
  const cells = D.comparison.cells.filter(c => c.depth === state.depth && (!state.dataset || c.dataset === state.dataset));
  withLegend(box, chart(`${state.dataset || "each data set"}, depth ${state.depth}: the same on the diagonal`, { label: "paper: method − XGBoost" }, { label: "ours − XGBoost" }, [
    ...known(NAMES).map(m => ({ ...ofMethod(m), points: cells.filter(c => c.method === m).map(c => ({ x: c.paper_difference, y: c.difference, tip: `${title(m)}, ${c.dataset}: ours ${signed(c.difference)}, paper ${signed(c.paper_difference)}` })) })),
    diagonal(cells.flatMap(c => [c.paper_difference, c.difference])),
  ]));
});

function diagonal(values) {
  if (!values.length) return { colour: "gray", points: [] };
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return { colour: "gray", line: true, dash: "3 3", points: [low, high].map(v => ({ x: v, y: v, tip: "the same in both" })) };
}

// Which method is best at equal numbers of trees, and of leaves.
const SIZES = { trees: [5, 10, 20, 40], leaves: [20, 40, 80, 160] };
const depthName = depth => depth === 0 ? "any depth" : `depth ${depth}`;

function sizeTable(kind, depth) {
  const rows = D.sizes.means.filter(r => r.kind === kind && r.depth === depth && SIZES[kind].includes(r.budget));
  return sortable([kind, ...D.sizes.methods.map(title)], rows.map(r => {
    const best = Math.max(...r.accuracy.map(a => +fixed(a)));
    return { keys: [r.budget, ...r.accuracy], cells: [String(r.budget), ...r.accuracy.map(a => +fixed(a) === best ? make("b", {}, fixed(a)) : fixed(a))] };
  }));
}

function sizeChart(kind, depth) {
  const rows = D.sizes.means.filter(r => r.kind === kind && r.depth === depth);
  return chart(`at most so many ${kind}, ${depthName(depth)}`, { label: `${kind} at most`, kind: "log", ticks: kind === "trees" ? [1, 2, 5, 10, 20, 40, 100] : [10, 20, 40, 80, 160] }, { label: "test accuracy" },
    D.sizes.methods.map((m, j) => ({ ...ofMethod(m), line: true, points: rows.map(r => ({ x: r.budget, y: r.accuracy[j], tip: `${title(m)}, ${r.budget} ${kind}: ${fixed(r.accuracy[j])}` })) })));
}

function matchesTable(depth) {
  const rows = D.sizes.matches.filter(r => r.depth === depth);
  return sortable(["method", "accuracy", "its trees", "it matches within", "best heuristic with no more trees", "trees with which a heuristic matches it"], rows.map(r => ({
    keys: [title(r.method), r.accuracy, r.trees, r.own_trees, r.rivals_at_most_as_many, r.rival_trees ?? 1e9],
    cells: [title(r.method), fixed(r.accuracy), fixed(r.trees, 1), String(r.own_trees), fixed(r.rivals_at_most_as_many), isNumber(r.rival_trees) ? String(r.rival_trees) : "more than 100"],
  })));
}

section("equal-size", "At equal size", "How accurate each method is within so many trees, and within so many leaves: means over the data sets. Values of C and learning rates are chosen on validation rows, from as many for each method.", box => {
  if (!D.sizes.means.length) { box.append(make("p", {}, "These results do not have the experiment equal_size.")); return; }
  const depths = [...new Set(D.sizes.means.map(r => r.depth))], depth = depths.includes(state.depth) ? state.depth : depths[0];
  withLegend(box, sizeChart("trees", depth), sizeChart("leaves", 0));
  box.append(make("h3", {}, `Within so many trees, ${depthName(depth)}`), sizeTable("trees", depth), make("h3", {}, "Within so many leaves, any depth"), sizeTable("leaves", 0));
  if (D.sizes.matches.length) box.append(make("h3", {}, `After all iterations, ${depthName(depth)}`), make("p", {}, "The ensembles that a method has without a budget, and how many of its own trees, and of a tuned heuristic's, are at most 0.005 behind."), matchesTable(depth));
});

// Curves of single data sets: over iterations, weights, margins, and values of the hyperparameter.
const pickDataset = () => state.dataset || D.datasets[0];
const withMargins = () => known([...D.ours, "adaboost"]);
const atDepth = list => list.filter(r => r.experiment === state.experiment && r.depth === state.depth);
const ofDataset = list => atDepth(list).filter(r => r.dataset === pickDataset());

// The mean over the data sets that all methods have.
function meanCurves(curves) {
  const methods = [...new Set(curves.map(c => c.method))], datasets = [...new Set(curves.map(c => c.dataset))];
  const whole = datasets.filter(d => methods.every(m => curves.some(c => c.dataset === d && c.method === m)));
  return methods.map(method => {
    const own = curves.filter(c => c.method === method && whole.includes(c.dataset)), n = Math.max(0, ...own.map(c => c.mean.length));
    const at = (c, i) => c.mean[Math.min(i, c.mean.length - 1)], iterations = Array.from({ length: n }, (_, i) => i + 1);
    return { method, iteration: iterations, mean: iterations.map((_, i) => mean(own.map(c => at(c, i)))), std: iterations.map(() => 0) };
  });
}

section("anytime", "Anytime accuracy", "Test accuracy after each iteration: the mean over the data sets, or of the data set chosen, with the deviation over the seeds.", box => {
  if (!D.stages_are_optimal) box.append(make("p", {}, "Only the last stage of a totally corrective method is an optimum in this run (reoptimize = \"as_needed\"), so earlier stages are not comparable."));
  const curves = state.dataset ? ofDataset(D.anytime) : meanCurves(atDepth(D.anytime)), name = state.dataset || "mean over the data sets";
  withLegend(box, chart(`${name}, depth ${state.depth}`, { label: "iteration", kind: "whole", least: 1 }, { label: "test accuracy" }, curves.map(c => ({ ...ofMethod(c.method), line: true, steps: true, points: c.iteration.map((n, i) => ({
    x: n, y: c.mean[i], spread: i % 10 === 9 ? c.std[i] : 0, tip: `${title(c.method)}, iteration ${n}: ${fixed(c.mean[i])}${c.std[i] ? ` ± ${fixed(c.std[i])}` : ""}` })) }))));
});

section("margins", "Margins", "The share of test rows with at most a margin; of the first data set if none is chosen.", box => {
  const curves = ofDataset(D.margins).filter(c => withMargins().includes(c.method));
  withLegend(box, chart(`${pickDataset()}, depth ${state.depth}`, { label: "margin" }, { label: "share of rows" }, curves.map(c => ({ ...ofMethod(c.method), line: true, steps: true, points: c.margin.map((m, i) => ({
    x: m, y: c.quantile[i], tip: `${title(c.method)}: ${fixed(100 * c.quantile[i], 0)} % at most ${fixed(m)}` })) }))));
});

section("value-margins", "Margins over the hyperparameter", "The share of test rows with at most a margin, for each value: from the smallest (blue) to the largest (red). CART trees.", box => {
  const curves = D.value_margins.filter(c => c.depth === state.depth && c.dataset === pickDataset());
  box.append(make("div", { class: "charts" }, ...D.ours.filter(m => curves.some(c => c.method === m)).map(m => {
    const own = curves.filter(c => c.method === m);
    return chart(`${title(m)}, ${pickDataset()}, depth ${state.depth}`, { label: "margin" }, { label: "share of rows" }, own.map((c, k) => ({ colour: `hsl(${225 - 225 * k / Math.max(1, own.length - 1)} 70% 50%)`, line: true, steps: true, points: c.margin.map((v, i) => ({
      x: v, y: c.quantile[i], tip: `value ${short(c.hyperparameter)}: ${fixed(100 * c.quantile[i], 0)} % at most ${fixed(v)}` })) })));
  })));
  if (!curves.length) box.append(make("p", {}, "These results have no margins at this depth."));
});

section("weights", "Weights", "The weights of the trees in order, relative to the largest; of the first data set if none is chosen.", box => {
  const curves = ofDataset(D.weights).filter(c => withMargins().includes(c.method));
  box.append(make("div", { class: "charts" }, ...curves.map(c => chart(`${title(c.method)}, ${pickDataset()}: ${many(c.rank.length, "tree")}`, { label: "tree", kind: "whole", least: 1, room: .5 }, { label: "weight", zero: true },
    [{ ...ofMethod(c.method), bar: 1, points: c.rank.map((n, i) => ({ x: n, y: c.weight[i], tip: `${title(c.method)}, tree ${n}: ${fixed(c.weight[i])}` })) }]))));
  if (!curves.length) box.append(make("p", {}, "These results have no weights for this choice."));
});

section("sensitivity", "Sensitivity to the hyperparameter", "Every value, not only the chosen one; the dashed line is the Pareto front: the best accuracy with at most so many trees.", box => {
  const rows = ofDataset(D.sensitivity).filter(r => D.ours.includes(r.method));
  const beaten = r => rows.some(o => o.test_accuracy >= r.test_accuracy && o.trees <= r.trees && (o.test_accuracy > r.test_accuracy || o.trees < r.trees));
  const tipText = r => `${fixed(r.test_accuracy)} with ${fixed(r.trees, 1)} trees`, point = (r, text) => ({ x: r.trees, y: r.test_accuracy, tip: `${text}: ${tipText(r)}` });
  const front = rows.filter(r => !beaten(r)).sort((a, z) => a.trees - z.trees);
  withLegend(box, chart(`${pickDataset()}, depth ${state.depth}`, { label: "trees used", kind: "whole" }, { label: "test accuracy" }, [
    ...D.ours.map(m => ({ ...ofMethod(m), points: rows.filter(r => r.method === m).map(r => point(r, `${title(m)}, value ${short(r.hyperparameter)}`)) })),
    { colour: "gray", line: true, steps: true, dash: "5 4", points: front.map(r => point(r, "front")) },
  ]));
});

// Other trees: AdaBoost's with new weights, confidence-rated ones and optimal ones.
section("reweighting", "Reweighting AdaBoost", "From a method's own trees (ring) to AdaBoost's trees with new weights (filled). Means over the data sets that both have.", box => {
  const charts = D.tables.filter(t => t.experiment === "reweight").map(t => {
    const native = D.tables.find(n => n.experiment === "cart" && n.depth === t.depth);
    const shared = native ? wholeDatasets(t).filter(name => wholeDatasets(native).includes(name)) : wholeDatasets(t);
    if (!shared.length) return chart(`depth ${t.depth}`, { label: "trees used" }, { label: "test accuracy" }, []);
    const tipText = (p, m, what) => ({ ...p, tip: `${title(m)}, ${what}: ${fixed(p.y)} with ${fixed(p.x, 1)} trees` });
    return chart(`depth ${t.depth}`, { label: "trees used", kind: "whole" }, { label: "test accuracy" }, t.methods.flatMap(m => {
      const after = tipText(meanOf(t, m, shared), m, "AdaBoost's trees, reweighted"), before = native && native.methods.includes(m) ? tipText(meanOf(native, m, shared), m, "own trees") : null;
      const end = { ...ofMethod(m), points: [after] };
      return before ? [{ ...ofMethod(m), line: true, dash: "", shape: "circle", hollow: true, points: [before, { ...after, tip: after.tip }] }, end] : [end];
    }));
  });
  charts.length ? withLegend(box, ...charts) : box.append(make("p", {}, "These results have no reweighting experiment."));
});

// The range, the quartiles and the median of a method's improvements, as a box on its own place.
function spread(method, k, values) {
  const tipText = q => `${title(method)}, ${q === .5 ? "median" : q === 0 ? "least" : q === 1 ? "most" : `${100 * q} %`}: ${signed(100 * quantile(values, q), 2)} %`;
  const point = q => ({ x: k, y: 100 * quantile(values, q), tip: tipText(q) });
  return [{ ...ofMethod(method), line: true, dash: "", points: [point(0), point(1)] }, { ...ofMethod(method), points: [point(.25), point(.75)] }, { ...ofMethod(method), points: [point(.5)], shape: "cross" }];
}

section("variants", "Confidence-rated and optimal trees", "Improvement of the test accuracy over CART trees, in per cent: median (cross), quartiles and range over the data sets.", box => {
  const charts = [];
  for (const v of D.variants) for (const depth of D.depths) {
    const rows = v.rows.filter(r => r.depth === depth), methods = D.ours.filter(m => rows.some(r => r.method === m));
    if (!methods.length) continue;
    charts.push(chart(`${v.experiment} against CART, depth ${depth}`, { label: "", names: methods.map(m => title(m).split("-")[0]), room: .5 }, { label: "improvement, %" },
      methods.flatMap((m, k) => spread(m, k, rows.filter(r => r.method === m).map(r => r.improvement)))));
  }
  charts.length ? withLegend(box, ...charts) : box.append(make("p", {}, "These results have neither experiment."));
});

// Seconds for a fit, and the paper's beside them.
function secondsOf(method, depth) {
  const found = D.seconds.filter(r => r.experiment === state.experiment && r.depth === depth && r.method === method && (!state.dataset || r.dataset === state.dataset)).map(r => r.seconds).filter(isNumber);
  return found.length ? mean(found) : null;
}

function paperChart(rows) {
  const positive = rows.filter(r => r.paper_seconds > 0 && r.seconds > 0), values = positive.flatMap(r => [r.paper_seconds, r.seconds]);
  return chart("stumps, each data set: the same time on the dashed line", { label: "seconds in the paper", kind: "log" }, { label: "seconds here", kind: "log" }, [
    ...NAMES.map(m => ({ ...ofMethod(m), points: positive.filter(r => r.method === m).map(r => ({ x: r.paper_seconds, y: r.seconds, tip: `${title(m)}, ${r.dataset}: ${seconds(r.seconds)} s here, ${seconds(r.paper_seconds)} s in the paper` })) })),
    diagonal(values),
  ]);
}

section("time", "Time", "Seconds for a fit on one thread, means over seeds and values. Below, in small print, the paper's with Gurobi, which it gives for stumps only: on another machine, and without stopping early.", box => {
  const rows = D.paper_seconds.filter(r => !state.dataset || r.dataset === state.dataset);
  const charts = [chart(`${state.experiment}: ${state.dataset || "mean over the data sets"}`, { label: "depth of the trees", ticks: D.depths }, { label: "seconds for a fit", kind: "log" }, NAMES.map(m => ({ ...ofMethod(m), line: true,
    points: D.depths.map(d => ({ x: d, y: secondsOf(m, d), tip: `${title(m)}, depth ${d}: ${seconds(secondsOf(m, d))} s` })) })))];
  if (rows.length) charts.push(paperChart(rows));
  withLegend(box, ...charts);
  const here = D.seconds.filter(r => r.experiment === state.experiment && r.depth === state.depth && (!state.dataset || r.dataset === state.dataset));
  const methods = NAMES.filter(m => here.some(r => r.method === m)), paper = state.experiment === "cart" && state.depth === 1 ? D.paper_seconds : [];
  box.append(sortable(["data set", ...methods.map(title)], [...new Set(here.map(r => r.dataset))].map(dataset => {
    const at = methods.map(m => [here.find(r => r.dataset === dataset && r.method === m)?.seconds ?? null, paper.find(r => r.dataset === dataset && r.method === m)?.paper_seconds ?? null]);
    return { keys: [dataset, ...at.map(([s]) => s)], cells: [dataset, ...at.map(([s, p]) => isNumber(p) ? [seconds(s), make("span", { class: "paper" }, p.toFixed(1))] : seconds(s))] };
  })));
});

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

section("significance", "Significance", "Mean ranks over the data sets: 1 is best. A bar joins methods that do not differ significantly (Nemenyi, 5 %).", box => {
  const tables = D.tables.filter(t => t.experiment === state.experiment), ranked = tables.filter(t => t.ranks);
  if (ranked.length) box.append(make("div", { class: "charts" }, ...ranked.map(diagram)));
  else box.append(make("p", {}, "Ranks need at least five data sets and three methods."));
});
