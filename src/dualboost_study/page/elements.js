// Elements of the page, and numbers as text.
const NS = "http://www.w3.org/2000/svg";
const $ = id => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function draw(tag, attributes, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Lists of entries with the same names were packed into tables.
function unpacked(value) {
  if (Array.isArray(value)) return value.map(unpacked);
  if (value === null || typeof value !== "object") return value;
  const names = Object.keys(value);
  if (names.length === 2 && Array.isArray(value.columns) && Array.isArray(value.rows)) {
    return value.rows.map(row => Object.fromEntries(value.columns.map((name, k) => [name, unpacked(row[k])])));
  }
  return Object.fromEntries(names.map(name => [name, unpacked(value[name])]));
}

const D = unpacked(JSON.parse($("data").textContent));
const NAMES = Object.keys(D.methods), title = method => D.methods[method] ?? method;
const known = methods => methods.filter(method => method in D.methods);

const isNumber = value => value !== null && value !== undefined;
const fixed = (value, digits = 3) => isNumber(value) ? value.toFixed(digits) : "";
const signed = (value, digits = 3) => isNumber(value) ? (value > 0 ? "+" : "") + value.toFixed(digits) : "";
// Three digits, never as a power of ten.
const short = value => !isNumber(value) ? "" : value !== 0 && Math.abs(value) < 1e-4 ? "below 0.0001" : String(+value.toPrecision(3));
const seconds = value => !isNumber(value) ? "" : value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value >= .01 ? value.toFixed(3) : value.toFixed(4);
const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
const sorted = values => [...values].sort((a, z) => a - z);
function quantile(values, q) {
  const ordered = sorted(values), k = (ordered.length - 1) * q, i = Math.floor(k);
  return ordered[i] + (ordered[Math.min(i + 1, ordered.length - 1)] - ordered[i]) * (k - i);
}

// What a mark tells when it is pointed at or reached by the keyboard.
function tip(mark, text) {
  mark.setAttribute("tabindex", "0");
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", text);
  mark.classList.add("mark");
  const show = () => {
    const box = mark.getBoundingClientRect(), t = $("tip");
    t.textContent = text;
    t.style.display = "block";
    t.style.left = Math.max(4, Math.min(box.x, innerWidth - t.offsetWidth - 8)) + "px";
    t.style.top = Math.max(4, box.y - t.offsetHeight - 6) + "px";
  };
  const hide = () => { $("tip").style.display = "none"; };
  for (const event of ["mouseenter", "focus"]) mark.addEventListener(event, show);
  for (const event of ["mouseleave", "blur"]) mark.addEventListener(event, hide);
}
