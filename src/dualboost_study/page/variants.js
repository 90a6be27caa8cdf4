// Other trees: AdaBoost's with new weights, confidence-rated ones and optimal ones.
section("reweighting", "Reweighting AdaBoost", "From a method's own trees (ring) to AdaBoost's trees with new weights (filled). Means over the data sets that both have.", box => {
  const charts = D.tables.filter(t => t.experiment === "reweight").map(t => {
    const native = D.tables.find(n => n.experiment === "cart" && n.depth === t.depth);
    const shared = native ? wholeDatasets(t).filter(name => wholeDatasets(native).includes(name)) : wholeDatasets(t);
    if (!shared.length) return chart(`depth ${t.depth}`, { label: "trees used" }, { label: "test accuracy" }, []);
    const told = (p, m, what) => ({ ...p, tip: `${title(m)}, ${what}: ${fixed(p.y)} with ${fixed(p.x, 1)} trees` });
    return chart(`depth ${t.depth}`, { label: "trees used", kind: "whole" }, { label: "test accuracy" }, t.methods.flatMap(m => {
      const after = told(meanOf(t, m, shared), m, "AdaBoost's trees, reweighted"), before = native && native.methods.includes(m) ? told(meanOf(native, m, shared), m, "own trees") : null;
      const end = { ...ofMethod(m), points: [after] };
      return before ? [{ ...ofMethod(m), line: true, dash: "", shape: "circle", hollow: true, points: [before, { ...after, tip: after.tip }] }, end] : [end];
    }));
  });
  charts.length ? withLegend(box, ...charts) : box.append(make("p", {}, "These results have no reweighting experiment."));
});

// The range, the quartiles and the median of a method's improvements, as a box on its own place.
function spread(method, k, values) {
  const told = q => `${title(method)}, ${q === .5 ? "median" : q === 0 ? "least" : q === 1 ? "most" : `${100 * q} %`}: ${signed(100 * quantile(values, q), 2)} %`;
  const point = q => ({ x: k, y: 100 * quantile(values, q), tip: told(q) });
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
