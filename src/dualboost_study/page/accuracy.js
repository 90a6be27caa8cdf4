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
