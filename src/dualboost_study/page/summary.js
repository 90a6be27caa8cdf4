// What a reader should know after a minute, and the verdicts.
const KIND = { "holds": "holds", "does not hold": "does" };
const kindOf = one => KIND[one.word] || "unknown";

function leadersTable() {
  const cell = (row, side) => [`${title(row[side])} `, make("span", { class: "paper" }, `${fixed(row[side + "_accuracy"])} with ${many(Math.round(row[side + "_trees"]), "tree")}`)];
  const rows = D.summary.leaders.map(row => ({
    keys: [row.depth, row.ours_accuracy, row.heuristic_accuracy, row.ours_accuracy - row.heuristic_accuracy],
    cells: [`depth ${row.depth}`, cell(row, "ours"), cell(row, "heuristic"), signed(row.ours_accuracy - row.heuristic_accuracy)],
  }));
  return sortable(["trees of", "best of the six", "best heuristic", "difference"], rows, [], "narrow");
}

function renderSummary(box) {
  box.append(make("h2", {}, "In one minute"), make("ul", { class: "says" }, ...D.summary.sentences.map(text => make("li", {}, text))));
  if (D.summary.leaders.length) box.append(leadersTable());
  const judged = D.observations.filter(one => kindOf(one) !== "unknown");
  const chips = judged.map(one => make("li", {}, make("a", { class: kindOf(one), href: `#observation-${one.number}`, title: one.statement }, `${one.number} ${kindOf(one) === "holds" ? "✓" : "✗"}`)));
  if (chips.length) box.append(make("ul", { class: "chips", "aria-label": "Observations judged: ✓ holds, ✗ does not" }, ...chips));
}

// Many figures are folded away.
function folded(figures) {
  const box = make("div", { class: "figures" }, figures);
  return figures.length < 400 ? box : make("details", { class: "figures" }, make("summary", {}, "its figures"), box);
}

function verdict(one) {
  const figures = Object.entries(one.figures).map(([name, value]) => `${name}: ${short(value)}`).join(" · ");
  return make("li", { id: `observation-${one.number}` }, make("span", { class: "word " + kindOf(one) }, `${one.number}. ${one.word}`), ` — ${one.statement} ${one.sentence}`,
    make("div", { class: "figures" }, `Judged so: ${one.criterion} By: ${one.data}.`), folded(figures));
}

function renderObservations(box) {
  const judged = D.observations.filter(one => kindOf(one) !== "unknown"), others = D.observations.filter(one => kindOf(one) === "unknown");
  box.append(make("h2", {}, "Observations"), make("p", {}, "The paper's eighteen numbered observations, and a nineteenth question, judged by these results."));
  if (judged.length) box.append(make("ol", { class: "verdicts" }, ...judged.map(verdict)));
  if (!others.length) return;
  const list = others.map(one => make("li", {}, `${one.number}. ${one.statement} ${one.sentence}`));
  const numbers = others.map(one => one.number).join(", ");
  const line = judged.length ? `Not enough data in these results for numbers ${numbers}.` : "These results do not suffice to judge any of them.";
  box.append(make("details", { id: "unjudged" }, make("summary", {}, line), make("ul", {}, ...list)));
}
