// Curves over the steps, and weights as bars.

import { chartIn, clip, figureHeight, make, number, scale } from "./drawing.js";
import { set, shape, subscript, ticks, tint } from "./drawing.js";

// The past in ink, the future pale, a dot at the present; a press or a drag goes there.
export const curve = (name, quantity) => (host, data, width, jump) => {
  const height = data.points ? Math.min(figureHeight() / 2 + 6, 215) : 180;
  const pad = { left: 46, right: 14, top: 30, bottom: 24 };
  const values = data.steps.map((step) => data.states[step.state][quantity]);
  const finite = values.filter((value) => value !== null);
  const range = [Math.min(...finite, 0), Math.max(...finite, 0) || 1];
  const last = Math.max(data.n_steps - 1, 1);
  const x = scale([0, last], [pad.left, width - pad.right]);
  const y = scale(range, [height - pad.bottom, pad.top]);
  const dense = data.steps.length > width ? "curve dense" : "curve";
  const svg = chartIn(host, width, height, `${name} after each step`, dense);
  curveAxes(svg, x, y, range, last, { width, height, pad });
  make(svg, "text", { x: 2, y: 14, class: "title" }, name);
  const corner = { x: width - pad.right, y: 14, class: "now", "text-anchor": "end" };
  const now = make(svg, "text", corner);
  const places = values.map((v, i) => (v === null ? null : [x(data.steps[i].step), y(v)]));
  make(svg, "path", { d: polyline(places), class: "future" });
  const past = make(svg, "path", { class: "past" });
  const rule = make(svg, "path", { class: "rule" });
  const dot = make(svg, "circle", { r: 4.5, class: "dot" });
  draggable(svg, (share) => jump(nearest(data.steps, x.back(share * width))));
  return (at) => {
    set(past, { d: polyline(places.slice(0, at + 1)) });
    set(rule, { d: `M${x(data.steps[at].step)},${pad.top}V${height - pad.bottom}` });
    const [cx, cy] = places[at] ?? [0, 0];
    set(dot, { cx, cy, visibility: places[at] ? "visible" : "hidden" });
    now.textContent = number(values[at]);
  };
};

function curveAxes(svg, x, y, range, last, { width, height, pad }) {
  const group = make(svg, "g", { class: "axes" });
  const bottom = height - pad.bottom;
  make(group, "path", { d: `M${pad.left},${pad.top}V${bottom}H${width - pad.right}` });
  for (const t of ticks(...range, 3)) {
    make(group, "path", { d: `M${pad.left},${y(t)}h-4` });
    make(group, "text", { x: pad.left - 8, y: y(t) + 4, "text-anchor": "end" }, number(t));
  }
  for (const t of ticks(0, last, width / 80).filter(Number.isInteger))
    make(group, "text", { x: x(t), y: bottom + 16, "text-anchor": "middle" }, number(t));
}

// A path through the places there are; a missing one lifts the pen.
function polyline(places) {
  const pen = (i) => (i > 0 && places[i - 1] ? "L" : "M");
  return places
    .map((p, i) => (p ? `${pen(i)}${p[0].toFixed(1)},${p[1].toFixed(1)}` : ""))
    .join("");
}

function draggable(svg, go) {
  const point = (event) => {
    const bounds = svg.getBoundingClientRect();
    go((event.clientX - bounds.left) / bounds.width);
  };
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    point(event);
  });
  svg.addEventListener("pointermove", (event) => event.buttons && point(event));
}

function nearest(steps, wanted) {
  const distance = (i) => Math.abs(steps[i].step - wanted);
  return steps.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
}

// Bars around zero: a line per feature, a column per class where there are several.
export const MOST_CLASSES = 10;

export function bars(host, data, width) {
  const K = Math.min(data.states.at(-1).coef.length, MOST_CLASSES);
  const d = data.features.length;
  const longest = Math.max(...data.features.map((name) => name.length));
  const names = Math.min(longest * 6.6 + 12, width * 0.36);
  const columns = Math.min(K, Math.max(1, Math.floor((width - names) / 78)));
  const across = (width - names) / columns;
  const line = d > 12 ? 17 : 21;
  const head = K === 1 ? 28 : 52;
  const block = head + line * d;
  const height = Math.ceil(K / columns) * block;
  const svg = chartIn(host, width, height, "The weights after this step", "bars");
  make(svg, "text", { x: 2, y: 14, class: "title" }, "weights");
  const draws = Array.from({ length: K }, (_, k) => {
    const [row, column] = [Math.floor(k / columns), k % columns];
    const place = { left: names + column * across, top: row * block + head };
    if (column === 0) barNames(svg, data.features, names, place.top, line);
    if (K > 1) barHead(svg, k, data.classes[k] ?? `${k}`, place, across);
    const colour = (weight) => tint(K > 1 ? k : Number(weight > 0));
    return barColumn(svg, d, rangeOf(data.states, K), place, across, line, colour);
  });
  return (at) => {
    const { coef } = data.states[data.steps[at].state];
    draws.forEach((draw, k) => draw(coef ? coef[k] : Array(d).fill(null)));
  };
}

function rangeOf(states, K) {
  const weights = states.flatMap((state) => (state.coef ?? []).slice(0, K).flat());
  const widen = ([low, high], weight) => [Math.min(low, weight), Math.max(high, weight)];
  return weights.reduce(widen, [0, 1e-300]);
}

function barNames(svg, features, right, top, line) {
  features.forEach((feature, j) => {
    const place = { x: right - 4, y: top + line * (j + 0.5) + 4, "text-anchor": "end" };
    const label = make(svg, "text", place, clip(subscript(feature), (right - 12) / 6.4));
    make(label, "title", {}, feature);
  });
}

function barHead(svg, k, name, { left, top }, across) {
  const transform = `translate(${left + 11},${top - 12})`;
  make(svg, "path", { d: shape(k, 5), transform, style: `fill: ${tint(k)}` });
  make(svg, "text", { x: left + 21, y: top - 8 }, clip(name, (across - 24) / 6.6));
}

function barColumn(svg, d, range, { left, top }, across, line, colour) {
  const counted = across > 140 ? 58 : 0; // room for the numbers
  const x = scale(range, [left + 6, left + across - 8 - counted]);
  make(svg, "path", { class: "zero", d: `M${x(0)},${top}v${line * d}` });
  const rows = Array.from({ length: d }, (_, j) => {
    const middle = top + line * (j + 0.5);
    const rect = make(svg, "rect", { y: middle - line / 2 + 3, height: line - 6, rx: 1.5 });
    const place = { x: left + across - 2, y: middle + 4, "text-anchor": "end", class: "count" };
    return [rect, make(svg, "text", place)];
  });
  return (weights) =>
    rows.forEach(([rect, text], j) => {
      const [from, to] = [x(0), x(weights[j] ?? 0)].sort((a, b) => a - b);
      set(rect, { x: from, width: to - from, style: `fill: ${colour(weights[j])}` });
      if (counted) text.textContent = number(weights[j]);
    });
}
