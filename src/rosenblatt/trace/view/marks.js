// The points by class, those that are wrong or supports, and the example visited.

import { make, set, shape, tint } from "./drawing.js";

export const sizeOf = (points) => [6.5, 5, 3.6, 2.6][[40, 200, 800].filter((n) => points.n > n).length];

export const bitOf = (digits, i) => (parseInt(digits[i >> 2] ?? "0", 16) >> (3 - (i & 3))) & 1;

// Points on the wrong side are hollow, and those on the line that are a mistake nevertheless are
// half filled: `wrong` and `tied` have a bit each, four to a hexadecimal digit. Where rows have
// weights, `sizes` has a digit each: 0 is the smallest mark, f the largest.
export function marks(svg, { x, y }, points) {
  const group = make(svg, "g", { class: "marks" });
  const faint = new Set(points.faint);
  const half = halves(svg, new Set(points.class));
  const places = points.at.map(([a, b]) => `translate(${x(a).toFixed(2)},${y(b).toFixed(2)})`);
  const nodes = points.at.map((_, i) => {
    const k = Math.max(points.class[i], 0);
    const transform = places[i];
    const kind = faint.has(points.row[i]) ? "faint" : "";
    const style = `--mark: ${tint(k)}; --half: url(#${half}${k})`;
    return make(group, "path", { d: shape(k, sizeOf(points)), transform, style, class: kind });
  });
  return (wrong, tied, row, sizes) =>
    nodes.forEach((node, i) => {
      const times = sizes && 0.4 + (2.6 * parseInt(sizes[i], 16)) / 15;
      if (sizes) set(node, { transform: `${places[i]} scale(${times.toFixed(2)})` });
      node.classList.toggle("wrong", bitOf(wrong, i) === 1);
      node.classList.toggle("tied", bitOf(tied, i) === 1);
      node.classList.toggle("now", points.row[i] === row);
    });
}

// Fills for points half of which is hollow, one per class; several pages may share a document.
let pictures = 0;
function halves(svg, classes) {
  const id = `rosenblatt-half-${pictures++}-`;
  const defs = make(svg, "defs");
  for (const k of classes) {
    const fill = make(defs, "linearGradient", { id: `${id}${Math.max(k, 0)}` });
    make(fill, "stop", { offset: 0.5, style: `stop-color: ${tint(Math.max(k, 0))}` });
    make(fill, "stop", { offset: 0.5, style: "stop-color: var(--paper)" });
  }
  return id;
}

// The corners of a square around a place: a ring would be taken for a hollow point.
export function corners(r, cx = 0, cy = 0) {
  const [leg, gap] = [0.55 * r, 0.9 * r].map((length) => length.toFixed(1));
  const top = `v-${leg}h${leg}m${gap},0h${leg}v${leg}`;
  const bottom = `m0,${gap}v${leg}h-${leg}m-${gap},0h-${leg}v-${leg}`;
  return `M${(cx - r).toFixed(1)},${(cy - 0.45 * r).toFixed(1)}${top}${bottom}`;
}

// Corners around the supports. A state says which points have turned into supports, or ceased to
// be, since the state before.
export function supports(svg, { x, y }, points, states) {
  const frames = make(svg, "path", { class: points.n > 400 ? "supports many" : "supports" });
  const r = sizeOf(points) + (points.n > 400 ? 2 : 3);
  const frame = ([a, b]) => corners(r, x(a), y(b));
  const faint = new Set(points.faint);
  return (at) => {
    const chosen = new Set();
    for (const { turned } of states.slice(0, at + 1))
      for (const i of turned ?? []) chosen.delete(i) || chosen.add(i);
    const drawn = [...chosen].filter((i) => !faint.has(points.row[i]));
    set(frames, { d: drawn.map((i) => frame(points.at[i])).join("") });
  };
}

// A ring around the example visited, and whether it was right.
export function visit(svg, { left, right, top, x, y }, points) {
  const group = make(svg, "g", { class: "visited" });
  const size = sizeOf(points);
  const ring = make(group, "circle", { r: size + 6 });
  const word = make(group, "text", { "text-anchor": "middle" });
  const indexOf = new Map(points.row.map((row, i) => [row, i]));
  return ({ row, mistake }) => {
    const i = indexOf.get(row);
    group.setAttribute("visibility", i === undefined ? "hidden" : "visible");
    if (i === undefined) return;
    const [cx, cy] = [x(points.at[i][0]), y(points.at[i][1])];
    const beside = cy > top + 34 ? -size - 11 : size + 21;
    set(ring, { cx, cy });
    set(word, { x: Math.min(Math.max(cx, left + 26), right - 26), y: cy + beside });
    word.textContent = mistake ? "mistake" : "right";
    group.classList.toggle("wrong", mistake);
  };
}
