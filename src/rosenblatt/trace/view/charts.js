// Curves over the steps, and weights as bars.

import { chartIn, clip, figureHeight, make, number, scale } from "./drawing.js";
import { set, shape, subscript, ticks, tidied, tint } from "./drawing.js";

// The past in ink, the future pale, a dot at the present; a press or a drag goes there. Of two
// series the first is drawn on top, and both have names; that of the current weights is dashed.
// What falls by decades, a gap or the length of a gradient, has an axis of powers of ten.
export const curve = (name, ...series) => (host, data, width, jump) => {
  const height = heightOf(data);
  const pad = { left: 46, right: 14, top: 30, bottom: 24 };
  const { decades } = series[0];
  const told = series.map(({ of }) => data.steps.map((step) => data.states[step.state][of] ?? null));
  const logarithm = (value) => (value > 0 ? Math.log10(value) : null);
  const values = decades ? told.map((list) => list.map(logarithm)) : told;
  const finite = values.flat().filter((value) => value !== null);
  const range = decades ? decadesOf(finite) : rangeFromZero(finite);
  const last = Math.max(data.n_steps - 1, 1);
  const x = scale([0, last], [pad.left, width - pad.right]);
  const y = scale(range, [height - pad.bottom, pad.top]);
  const dense = data.steps.length > width ? "curve dense" : "curve";
  const svg = chartIn(host, width, height, `${name} after each step`, dense);
  curveAxes(svg, x, y, range, last, { width, height, pad, decades });
  make(svg, "text", { x: 2, y: 14, class: "title" }, name);
  const rule = make(svg, "path", { class: "rule" });
  const keys = curveKeys(svg, series, width - pad.right);
  const drawn = ({ current }, i) => oneCurve(svg, data.steps, values[i], x, y, current);
  const draws = [...series.keys()].reverse().map((i) => drawn(series[i], i));
  draggable(svg, (share) => jump(nearest(data.steps, x.back(share * width))));
  return (at) => {
    set(rule, { d: `M${x(data.steps[at].step)},${pad.top}V${height - pad.bottom}` });
    for (const draw of draws) draw(at);
    keys.forEach((tell, i) => tell(told[i][at]));
  };
};

// Two curves stand beside a picture, or four if the model says how far it is from its best.
function heightOf({ points, states }) {
  const curves = states.at(-1).dual_gap === undefined ? 2 : 4;
  return points ? Math.max(Math.min(figureHeight() / curves + 6, 215), 118) : 180;
}

const widen = ([low, high], value) => [Math.min(low, value), Math.max(high, value)];

function rangeFromZero(values) {
  const [low, high] = values.reduce(widen, [0, 0]);
  return [low, high || 1];
}

function decadesOf(logarithms) {
  const [low, high] = logarithms.reduce(widen, [Infinity, -Infinity]);
  if (low > high) return [-1, 0];
  return [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
}

const powerOfTen = (t) => `10${String(t).replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)])}`;

const kindOf = (current) => (current ? "series current" : "series");

function oneCurve(svg, steps, values, x, y, current) {
  const group = make(svg, "g", { class: kindOf(current) });
  const places = values.map((v, j) => (v === null ? null : [x(steps[j].step), y(v)]));
  make(group, "path", { d: polyline(places), class: "future" });
  const past = make(group, "path", { class: "past" });
  const dot = make(group, "circle", { r: current ? 3.5 : 4.5, class: "dot" });
  return (at) => {
    set(past, { d: polyline(places.slice(0, at + 1)) });
    const [cx, cy] = places[at] ?? [0, 0];
    set(dot, { cx, cy, visibility: places[at] ? "visible" : "hidden" });
  };
}

// The present value in the corner; of two series each with its name and a piece of its line.
function curveKeys(svg, series, right) {
  if (series.length === 1) {
    const now = make(svg, "text", { x: right, y: 14, class: "now", "text-anchor": "end" });
    return [(value) => (now.textContent = number(value))];
  }
  return series.map(({ name, current }, i) => {
    const left = right - 120 * (series.length - i) + 8;
    const group = make(svg, "g", { class: kindOf(current) });
    make(group, "path", { d: `M${left},9.5h22`, class: "past" });
    const text = make(group, "text", { x: left + 27, y: 14, class: "key" });
    return (value) => (text.textContent = `${name} ${number(value)}`);
  });
}

function curveAxes(svg, x, y, range, last, { width, height, pad, decades }) {
  const group = make(svg, "g", { class: "axes" });
  const bottom = height - pad.bottom;
  make(group, "path", { d: `M${pad.left},${pad.top}V${bottom}H${width - pad.right}` });
  const marks = ticks(...range, 3).filter((t) => !decades || Number.isInteger(t));
  for (const t of marks) {
    make(group, "path", { d: `M${pad.left},${y(t)}h-4` });
    const word = decades ? powerOfTen(t) : number(t);
    make(group, "text", { x: pad.left - 8, y: y(t) + 4, "text-anchor": "end" }, word);
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

// Bars around zero: a line per feature or support, a column per class where there are several.
export const MOST_CLASSES = 10;

export const bars = (title, labels, quantity) => (host, data, width) => {
  const K = Math.min(data.states.at(-1)[quantity].length, MOST_CLASSES);
  const d = labels.length;
  const longest = Math.max(...labels.map((label) => label.length));
  const names = Math.min(longest * 6.6 + 12, width * 0.36);
  const columns = Math.min(K, Math.max(1, Math.floor((width - names) / 78)));
  const across = (width - names) / columns;
  const line = d > 12 ? 17 : 21;
  const head = K === 1 ? 28 : 52;
  const block = head + line * d;
  const height = Math.ceil(K / columns) * block;
  const svg = chartIn(host, width, height, `The ${title} after this step`, "bars");
  make(svg, "text", { x: 2, y: 14, class: "title" }, title);
  const range = rangeOf(data.states, quantity, K);
  const draws = Array.from({ length: K }, (_, k) => {
    const [row, column] = [Math.floor(k / columns), k % columns];
    const place = { left: names + column * across, top: row * block + head };
    if (column === 0) barNames(svg, labels, names, place.top, line);
    if (K > 1) barHead(svg, k, data.classes[k] ?? `${k}`, place, across);
    const colour = (weight) => tint(K > 1 ? k : Number(weight > 0));
    return barColumn(svg, d, range, place, across, line, colour);
  });
  return (at) => {
    const rows = data.states[data.steps[at].state][quantity];
    draws.forEach((draw, k) => draw(rows ? tidied(rows[k], data.rounding) : Array(d).fill(null)));
  };
};

function rangeOf(states, quantity, K) {
  const weights = states.flatMap((state) => (state[quantity] ?? []).slice(0, K).flat());
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
