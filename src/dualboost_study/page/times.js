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
