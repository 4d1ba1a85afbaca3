// One or two features: points by class, the region of each, the boundary and its past, the visit.

import { boundaries, boxAround, flat, planesOf, region } from "./geometry.js";
import { chartIn, figureHeight, make, number, scale } from "./drawing.js";
import { set, shape, subscript, ticks, tint } from "./drawing.js";

const PAD = { left: 38, right: 10, top: 10, bottom: 40 };

export function picture(host, data, width) {
  const height = data.features.length === 1 ? 190 : Math.min(width, figureHeight());
  const [across, up] = [width - PAD.left - PAD.right, height - PAD.top - PAD.bottom];
  const box = boxAround(data.points.at, across, up);
  const x = scale(box[0], [PAD.left, width - PAD.right]);
  const y = scale(box[1], [height - PAD.bottom, PAD.top]);
  const space = { width, height, box, x, y };
  const svg = chartIn(host, width, height, "The points, and the boundary between the classes");
  const showRegions = regions(svg, space);
  axes(svg, space, data.features);
  const showTrail = trail(svg, space, data);
  const showErrors = marks(svg, space, data.points);
  const showLine = line(svg, space, data.states.at(-1).coef?.length === 1);
  const showVisit = visit(svg, space, data.points);
  const moveTo = mover((planes) => {
    showRegions(planes);
    showLine(planes);
  });
  return (at, milliseconds) => {
    const step = data.steps[at];
    const state = data.states[step.state];
    showTrail(at);
    showErrors(state.wrong ?? "", state.tied ?? "", step.row);
    showVisit(step);
    moveTo(planesOf(state), milliseconds);
  };
}

// Draw planes now, or on the way from those drawn last.
function mover(draw) {
  let shown = null;
  let request = 0;
  return (target, milliseconds) => {
    cancelAnimationFrame(request);
    const from = shown;
    if (!from || !target || !milliseconds) return draw((shown = target));
    const begun = performance.now();
    const move = (now) => {
      const t = Math.min(1, Math.max(0, (now - begun) / milliseconds));
      const share = t * t * (3 - 2 * t);
      const between = (p, k) => p.map((entry, i) => from[k][i] + share * (entry - from[k][i]));
      draw((shown = t === 1 ? target : target.map(between)));
      if (t < 1) request = requestAnimationFrame(move);
    };
    request = requestAnimationFrame(move);
  };
}

const outline = (points, { x, y }) =>
  `M${points.map(([a, b]) => `${x(a).toFixed(2)},${y(b).toFixed(2)}`).join("L")}`;

function regions(svg, space) {
  const group = make(svg, "g");
  return (planes) => {
    group.replaceChildren();
    planes?.forEach((_, k) => {
      const corners = region(planes, k, space.box);
      if (corners.length === 0) return;
      const d = `${outline(corners, space)}z`;
      make(group, "path", { d, style: `fill: ${tint(k)}`, class: "region" });
    });
  };
}

function axes(svg, { width, height, box, x, y }, names) {
  const group = make(svg, "g", { class: "axes" });
  const [left, right, bottom] = [PAD.left, width - PAD.right, height - PAD.bottom];
  const ground = `${left},${bottom}H${right}`;
  make(group, "path", { d: names.length === 1 ? `M${ground}` : `M${left},${PAD.top}L${ground}` });
  for (const t of ticks(...box[0], width / 90)) {
    make(group, "path", { d: `M${x(t)},${bottom}v4` });
    make(group, "text", { x: x(t), y: bottom + 17, "text-anchor": "middle" }, number(t));
  }
  const upright = names.length === 1 ? [] : ticks(...box[1], height / 80);
  for (const t of upright) {
    make(group, "path", { d: `M${left},${y(t)}h-4` });
    make(group, "text", { x: left - 8, y: y(t) + 4, "text-anchor": "end" }, number(t));
  }
  const [across, up] = names.map(subscript);
  make(group, "text", { x: right, y: height - 5, "text-anchor": "end", class: "name" }, across);
  if (up) make(group, "text", { x: left + 8, y: PAD.top + 12, class: "name" }, up);
}

// Where the boundary was, up to three changes ago.
function trail(svg, space, data) {
  const group = make(svg, "g", { class: "trail" });
  return (at) => {
    group.replaceChildren();
    const recent = data.steps.slice(Math.max(0, at - 40), at + 1).map((step) => step.state);
    const past = [...new Set(recent)].slice(0, -1).slice(-3).reverse();
    past.forEach((state, age) => {
      const planes = planesOf(data.states[state]);
      for (const piece of planes ? boundaries(planes, space.box) : [])
        make(group, "path", { d: outline(piece, space), opacity: [0.55, 0.3, 0.16][age] });
    });
  };
}

const sizeOf = (points) => [6.5, 5, 3.6, 2.6][[40, 200, 800].filter((n) => points.n > n).length];

const bitOf = (digits, i) => (parseInt(digits[i >> 2] ?? "0", 16) >> (3 - (i & 3))) & 1;

// Points on the wrong side are hollow, and those on the line that are a mistake nevertheless are
// half filled: `wrong` and `tied` have a bit each, four to a hexadecimal digit.
function marks(svg, { x, y }, points) {
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

function line(svg, space, withNormal) {
  const pieces = make(svg, "g", { class: "boundary" });
  const arrow = make(svg, "g", { class: "normal" });
  const middle = (PAD.left + space.width - PAD.right) / 2;
  const place = { x: middle, y: PAD.top + 18, "text-anchor": "middle", class: "lineless" };
  const word = make(svg, "text", place);
  return (planes) => {
    word.textContent = planes && flat(planes) ? "w = 0: no line yet" : "";
    pieces.replaceChildren();
    arrow.replaceChildren();
    const drawn = planes ? boundaries(planes, space.box) : [];
    for (const piece of drawn) make(pieces, "path", { d: outline(piece, space) });
    if (withNormal && drawn.length > 0) normal(arrow, space, planes[1], drawn[0]);
  };
}

// The arrow w, square to the line as drawn, on the side where the score is positive.
function normal(group, { x, y }, [, w1, w2], [p, q]) {
  const steepness = Math.hypot(w1 / x.unit, w2 / y.unit);
  const [dx, dy] = [w1 / x.unit / steepness, w2 / y.unit / steepness];
  const [fx, fy] = [x((p[0] + q[0]) / 2), y((p[1] + q[1]) / 2)];
  const tip = [fx + 40 * dx, fy + 40 * dy];
  const wing = (turn) => [tip[0] - 8 * dx - turn * 4 * dy, tip[1] - 8 * dy + turn * 4 * dx];
  const d = `M${fx},${fy}L${tip}M${wing(1)}L${tip}L${wing(-1)}`;
  make(group, "path", { d, class: "halo" });
  make(group, "path", { d });
  const place = { x: tip[0] + 12 * dx, y: tip[1] + 12 * dy + 4, "text-anchor": "middle" };
  make(group, "text", place, "w");
}

// A ring around the example visited, and whether it was right.
function visit(svg, { width, x, y }, points) {
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
    const beside = cy > PAD.top + 34 ? -size - 11 : size + 21;
    set(ring, { cx, cy });
    set(word, { x: Math.min(Math.max(cx, PAD.left + 26), width - PAD.right - 26), y: cy + beside });
    word.textContent = mistake ? "mistake" : "right";
    group.classList.toggle("wrong", mistake);
  };
}
