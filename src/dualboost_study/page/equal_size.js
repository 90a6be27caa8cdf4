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
