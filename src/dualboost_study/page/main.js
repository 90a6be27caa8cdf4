// The sections, and the choices that they follow.
function render() {
  document.querySelector("main").replaceChildren(...sections.map(s => {
    const box = make("section", { id: s.id }, make("h2", {}, s.heading), make("p", {}, s.note));
    s.render(box);
    return box;
  }));
  applyHidden(document);
}

for (const [id, values, labels] of [["dataset", ["", ...D.datasets], ["all", ...D.datasets]], ["depth", D.depths], ["experiment", D.experiments]]) {
  $(id).replaceChildren(...values.map((value, k) => make("option", { value }, String((labels || values)[k]))));
  $(id).value = state[id];
  $(id).addEventListener("change", event => { state[id] = id === "depth" ? +event.target.value : event.target.value; render(); });
}
$("about").textContent = `The published evaluation of totally corrective boosting, rerun with dualboost ${D.version}${D.gaps ? `; ${D.gaps}` : ""}.`;
document.querySelector("nav").append(...sections.map(s => make("a", { href: "#" + s.id }, s.heading)));
renderSummary($("summary"));
renderObservations($("observations"));
render();
