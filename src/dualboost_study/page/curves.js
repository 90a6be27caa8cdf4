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
  if (!D.stages_are_optimal) box.append(make("p", {}, "Only the last stage of a totally corrective method is an optimum in this run (reoptimize = \"as_needed\"): the stages before it say little."));
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
  const told = r => `${fixed(r.test_accuracy)} with ${fixed(r.trees, 1)} trees`, point = (r, text) => ({ x: r.trees, y: r.test_accuracy, tip: `${text}: ${told(r)}` });
  const front = rows.filter(r => !beaten(r)).sort((a, z) => a.trees - z.trees);
  withLegend(box, chart(`${pickDataset()}, depth ${state.depth}`, { label: "trees used", kind: "whole" }, { label: "test accuracy" }, [
    ...D.ours.map(m => ({ ...ofMethod(m), points: rows.filter(r => r.method === m).map(r => point(r, `${title(m)}, value ${short(r.hyperparameter)}`)) })),
    { colour: "gray", line: true, steps: true, dash: "5 4", points: front.map(r => point(r, "front")) },
  ]));
});
