// Tables that are sorted by a click on a heading.
function sortable(head, rows, foot = [], kind = "") {
  const table = make("table", kind ? { class: kind } : {}), body = make("tbody");
  let order = null;
  const cell = content => make("td", {}, ...[content].flat());
  const fill = list => body.replaceChildren(...list.map(row => make("tr", {}, ...row.cells.map(cell))));
  const header = make("tr", {}, ...head.map((name, k) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      const up = order && order[0] === k ? !order[1] : k === 0;
      order = [k, up];
      header.querySelectorAll("th").forEach((th, i) => th.setAttribute("aria-sort", i === k ? (up ? "ascending" : "descending") : "none"));
      fill([...rows].sort((a, z) => {
        const [p, q] = [a.keys[k], z.keys[k]], compared = typeof p === "string" ? p.localeCompare(q) : (p ?? -1) - (q ?? -1);
        return up ? compared : -compared;
      }));
    });
    return make("th", { scope: "col" }, button);
  }));
  fill(rows);
  table.append(make("thead", {}, header), body, make("tfoot", {}, ...foot.map(line => make("tr", {}, ...line.map(cell)))));
  return make("div", { class: "scroll" }, table);
}

// Sections are rendered anew for every choice of data set, depth and experiment.
const state = { dataset: "", depth: D.depths[0], experiment: D.experiments.includes("cart") ? "cart" : D.experiments[0] };
const sections = [];
function section(id, heading, note, render) { sections.push({ id, heading, note, render }); }

// The summary and the verdicts.
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
    make("div", { class: "figures" }, `Criterion: ${one.criterion} Data: ${one.data}.`), folded(figures));
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
