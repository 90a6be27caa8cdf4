// Axes: which numbers are ticks, and where a value lies.
function niceStep(span, most = 6) {
  const power = 10 ** Math.floor(Math.log10(span / 3));
  return [1, 2, 5, 10].find(factor => span / (factor * power) <= most) * power;
}

function multiples(step, low, high) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(+(k * step).toPrecision(10));
  return found;
}

// Powers of ten, and halves and fifths of them where there are few powers.
function powers(low, high) {
  const factors = Math.log10(high / low) > 3 ? [1] : Math.log10(high / low) > 1.3 ? [1, 3] : [1, 2, 5], found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const factor of factors) found.push(+(factor * 10 ** power).toPrecision(6));
  return found.filter(value => value >= low * .999 && value <= high * 1.001);
}

// An axis of a kind: "linear", "whole" (ticks at whole numbers only), "log", or one with given ticks or names.
function axis(spec, values, from, to) {
  let low = Math.min(...values), high = Math.max(...values);
  if (spec.kind === "log") {
    if (low === high) { low /= 2; high *= 2; }
    const [a, z] = [Math.log(low), Math.log(high)], pad = (z - a) * .05, place = v => from + (Math.log(v) - a + pad) / (z - a + 2 * pad) * (to - from);
    const ends = [Math.exp(a - pad), Math.exp(z + pad)];
    return { place, ticks: (spec.ticks ? spec.ticks.filter(v => v >= ends[0] && v <= ends[1]) : powers(...ends)).map(v => [v, String(v)]) };
  }
  if (spec.zero) low = Math.min(0, low);
  if (spec.room) { low -= spec.room; high += spec.room; }
  if (low === high) { const room = spec.kind === "whole" || spec.names || spec.ticks ? .5 : .01; low -= room; high += room; }
  const pad = (high - low) * .05, start = low - (spec.zero && low === 0 ? 0 : pad), end = high + pad;
  const place = v => from + (v - start) / (end - start) * (to - from);
  if (spec.names) return { place, ticks: spec.names.map((name, k) => [k, name]) };
  if (spec.ticks) return { place, ticks: spec.ticks.filter(v => v >= start && v <= end).map(v => [v, String(v)]) };
  const step = niceStep(end - start), least = spec.kind === "whole" ? Math.max(1, Math.round(step)) : step;
  const first = spec.kind === "whole" ? Math.max(start, spec.least ?? 0) : start;
  const digits = Math.max(0, -Math.floor(Math.log10(least) + 1e-9));
  return { place, ticks: multiples(least, first, end).map(v => [v, v.toFixed(digits)]) };
}
