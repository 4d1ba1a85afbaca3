// The points by class, those that are wrong or supports, and the example visited.

import { make, set, shape, tint } from "./drawing.js";

const sizeOf = (points) => [6.5, 5, 3.6, 2.6][[40, 200, 800].filter((n) => points.n > n).length];

const bitOf = (digits, i) => (parseInt(digits[i >> 2] ?? "0", 16) >> (3 - (i & 3))) & 1;

// Points on the wrong side are hollow, and those on the line that are a mistake nevertheless are
// half filled: `wrong` and `tied` have a bit each, four to a hexadecimal digit.
export function marks(svg, { x, y }, points) {
  const group = make(svg, "g", { class: "marks" });
  const faint = new Set(points.faint);
  const half = halves(svg, new Set(points.class));
  const nodes = points.at.map(([a, b], i) => {
    const k = Math.max(points.class[i], 0);
    const transform = `translate(${x(a).toFixed(2)},${y(b).toFixed(2)})`;
    const kind = faint.has(points.row[i]) ? "faint" : "";
    const style = `--mark: ${tint(k)}; --half: url(#${half}${k})`;
    return make(group, "path", { d: shape(k, sizeOf(points)), transform, style, class: kind });
  });
  return (wrong, tied, row) =>
    nodes.forEach((node, i) => {
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

// Thin rings around the supports. A state says which points have turned into supports, or ceased
// to be, since the state before.
export function supports(svg, { x, y }, points, states) {
  const rings = make(svg, "path", { class: points.n > 400 ? "supports many" : "supports" });
  const r = sizeOf(points) + (points.n > 400 ? 1.6 : 2.5);
  const half = (across) => `a${r},${r} 0 1,0 ${across},0`;
  const whole = half(2 * r) + half(-2 * r);
  const ring = ([a, b]) => `M${(x(a) - r).toFixed(1)},${y(b).toFixed(1)}${whole}`;
  const faint = new Set(points.faint);
  return (at) => {
    const chosen = new Set();
    for (const { turned } of states.slice(0, at + 1))
      for (const i of turned ?? []) chosen.delete(i) || chosen.add(i);
    const drawn = [...chosen].filter((i) => !faint.has(points.row[i]));
    set(rings, { d: drawn.map((i) => ring(points.at[i])).join("") });
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
