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
