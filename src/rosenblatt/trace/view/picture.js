// One or two features: points by class, the region of each, the boundary and its past, the visit.

import { contours, verticesOf } from "./contours.js";
import { boundaries, boxAround, flat, planesOf, region, undistorted } from "./geometry.js";
import { chartIn, figureHeight, make, number, scale } from "./drawing.js";
import { subscript, ticks, tint } from "./drawing.js";
import { marks, sizeOf, supports, visit } from "./marks.js";

const PAD = { left: 38, right: 10, top: 10, bottom: 40 };

export function picture(host, data, width) {
  const space = spaceFor(data, width);
  const name = "The points, and the boundary between the classes";
  const svg = chartIn(host, width, space.height, name);
  const curvesOf = data.grid && curvesOn(data);
  const drawing = (state) => curvesOf?.(state) ?? linesOf(planesOf(state), space.box);
  const showRegions = regions(svg, space);
  axes(svg, space, data.axes);
  const showTrail = trail(svg, space, data, drawing);
  const showErrors = marks(svg, space, data.points);
  const showSupports = supports(svg, space, data.points, data.states);
  const linear = !data.grid && data.states.at(-1).coef?.length === 1;
  const places = linear ? pixels(space, data.points) : null;
  const showRun = boundary(svg, space, "running", places, "");
  const showLine = boundary(svg, space, "boundary", places, data.published ?? "w");
  const showWord = lineless(svg, space);
  const showVisit = visit(svg, space, data.points);
  const show = (drawn) => {
    showRegions(drawn);
    showLine(drawn);
    showWord(drawn);
  };
  const moveTo = mover((planes) => show(linesOf(planes, space.box)));
  const moveRunTo = mover((planes) => showRun(linesOf(planes, space.box)));
  return (at, milliseconds) => {
    const step = data.steps[at];
    const state = data.states[step.state];
    showTrail(at);
    showErrors(state.wrong ?? "", state.tied ?? "", step.row, state.sizes);
    showSupports(step.state);
    showVisit(step);
    if (data.grid) return show(drawing(state));
    moveTo(planesOf(state), milliseconds);
    moveRunTo(planesOf({ coef: state.last_coef, intercept: state.last_intercept }), milliseconds);
  };
}

// The box that is shown, and where: a grid has its own, and is shown whole and undistorted.
export function spaceFor({ axes: names, points, grid, box: given }, width) {
  const tall = names.length === 1 ? 190 : Math.min(width, figureHeight());
  const room = [width - PAD.left - PAD.right, tall - PAD.top - PAD.bottom];
  const box = given ?? grid?.box ?? boxAround(points.at, ...room);
  const [across, up] = grid && names.length > 1 ? undistorted(box, ...room) : room;
  const [left, right, top, bottom] = [PAD.left, PAD.left + across, PAD.top, PAD.top + up];
  const [x, y] = [scale(box[0], [left, right]), scale(box[1], [bottom, top])];
  return { height: bottom + PAD.bottom, left, right, top, bottom, box, x, y };
}

// What is drawn of a state: polygons by class, the curves between them, or why there are none.

const NOTHING = { regions: [], curves: [], lineless: "" };

function linesOf(planes, box) {
  if (!planes) return NOTHING;
  const regions = planes.map((_, k) => [region(planes, k, box)].filter((part) => part.length));
  const curves = boundaries(planes, box);
  const why = flat(planes) ? "w = 0: no line yet" : "no line in this picture";
  return { planes, regions, curves, lineless: curves.length > 0 ? "" : why };
}

// The latest are kept, since a trail shows them again.
function curvesOn({ grid, classes: { length: K }, states }) {
  const latest = new Map();
  const nothing = states.at(-1).coef ? "w = 0" : "no supports";
  return (state) => {
    if (!state.scores) return NOTHING;
    if (!latest.has(state)) {
      const why = state.flat ? `${nothing}: no curve yet` : "no curve in this picture";
      const drawn = contours(verticesOf(state.scores, grid, K), grid.shape, K);
      latest.set(state, { ...drawn, lineless: drawn.curves.length > 0 ? "" : why });
      if (latest.size > 8) latest.delete(latest.keys().next().value);
    }
    return latest.get(state);
  };
}

// Draw planes now, or on the way from those drawn last.
export function mover(draw) {
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

export const outline = (points, { x, y }) =>
  `M${points.map(([a, b]) => `${x(a).toFixed(2)},${y(b).toFixed(2)}`).join("L")}`;

// One path per class: parts of the same path show no seams.
function regions(svg, space) {
  const group = make(svg, "g");
  return (drawn) => {
    group.replaceChildren();
    drawn.regions.forEach((polygons, k) => {
      const d = polygons.map((polygon) => `${outline(polygon, space)}z`).join("");
      if (d) make(group, "path", { d, style: `fill: ${tint(k)}`, class: "region" });
    });
  };
}

export function axes(svg, { height, left, right, top, bottom, box, x, y }, names) {
  const group = make(svg, "g", { class: "axes" });
  const ground = `${left},${bottom}H${right}`;
  make(group, "path", { d: names.length === 1 ? `M${ground}` : `M${left},${top}L${ground}` });
  for (const t of ticks(...box[0], (right - left) / 80)) {
    make(group, "path", { d: `M${x(t)},${bottom}v4` });
    make(group, "text", { x: x(t), y: bottom + 17, "text-anchor": "middle" }, number(t));
  }
  const upright = names.length === 1 ? [] : ticks(...box[1], (bottom - top) / 70);
  for (const t of upright) {
    make(group, "path", { d: `M${left},${y(t)}h-4` });
    make(group, "text", { x: left - 8, y: y(t) + 4, "text-anchor": "end" }, number(t));
  }
  const [across, up] = names.map(subscript);
  make(group, "text", { x: right, y: height - 5, "text-anchor": "end", class: "name" }, across);
  if (up) make(group, "text", { x: left + 8, y: top + 12, class: "name" }, up);
}

// The states before a step, up to three changes ago, the latest first; and how pale they are.
export function earlierStates(data, at) {
  const recent = data.steps.slice(Math.max(0, at - 40), at + 1).map((step) => step.state);
  return [...new Set(recent)].slice(0, -1).slice(-3).reverse();
}
export const FADING = [0.42, 0.26, 0.15];

// Where the boundary was.
function trail(svg, space, data, drawing) {
  const group = make(svg, "g", { class: "trail" });
  return (at) => {
    group.replaceChildren();
    earlierStates(data, at).forEach((state, age) => {
      const opacity = FADING[age];
      for (const curve of drawing(data.states[state]).curves)
        make(group, "path", { d: outline(curve, space), opacity });
    });
  };
}

const lines = (group, space) => (drawn) => {
  group.replaceChildren();
  for (const curve of drawn.curves) make(group, "path", { d: outline(curve, space) });
};

// Why there is no line, at the foot: the word on the example visited may stand at the head.
function lineless(svg, { left, right, bottom }) {
  const at = { x: (left + right) / 2, y: bottom - 10, "text-anchor": "middle" };
  const place = { ...at, class: "lineless" };
  const word = make(svg, "text", place);
  return (drawn) => {
    word.textContent = drawn.lineless;
  };
}

// A boundary; with the weights as an arrow, where no points (in pixels) are, if it is one line.
function boundary(svg, space, kind, places, name) {
  const showLines = lines(make(svg, "g", { class: kind }), space);
  const arrow = make(svg, "g", { class: `normal of-${kind}` });
  const shares = name ? SHARES : [...SHARES].reverse(); // two arrows keep apart
  let share = null;
  return (drawn) => {
    showLines(drawn);
    arrow.replaceChildren();
    if (!places || drawn.curves.length === 0) return;
    const at = (along) => arrowOn(space, drawn.planes[1], drawn.curves[0], along, name);
    share = clearest(shares, share, (along) => hidden(at(along), places, space));
    drawArrow(arrow, at(share), name);
  };
}

// Where along a line its arrow may stand, the best places first.
const SHARES = [0.5, 0.43, 0.57, 0.36, 0.64, 0.29, 0.71, 0.22, 0.78, 0.15, 0.85];

// The first of the places that costs least; that of before if it is as good, so as not to jump.
function clearest(shares, before, cost) {
  const costs = shares.map(cost);
  const least = Math.min(...costs);
  return costs[shares.indexOf(before)] === least ? before : shares[costs.indexOf(least)];
}

function pixels({ x, y }, points) {
  const faint = new Set(points.faint);
  const shown = points.at.filter((_, i) => !faint.has(points.row[i]));
  return { at: shown.map(([a, b]) => [x(a), y(b)]), size: sizeOf(points) };
}

// The arrow w, square to the line as drawn, on the side where the score is positive.
function arrowOn({ x, y }, [, w1, w2], [p, q], along, name) {
  const steepness = Math.hypot(w1 / x.unit, w2 / y.unit);
  const [dx, dy] = [w1 / x.unit / steepness, w2 / y.unit / steepness];
  const foot = [x(p[0] + along * (q[0] - p[0])), y(p[1] + along * (q[1] - p[1]))];
  const length = name ? 40 : 24;
  const tip = [foot[0] + length * dx, foot[1] + length * dy];
  const half = name ? 4 * name.length + 2 : 0; // of the word's width
  const word = [tip[0] + (half + 6) * dx, tip[1] + 12 * dy];
  return { dx, dy, foot, tip, word, half };
}

// How many points an arrow and its word would hide; to leave the picture counts as one.
function hidden({ dx, dy, foot, tip, word, half }, { at, size }, { left, right, top, bottom }) {
  const length = Math.hypot(tip[0] - foot[0], tip[1] - foot[1]);
  const covered = at.filter(([px, py]) => {
    const [u, v] = [px - foot[0], py - foot[1]];
    const along = Math.min(Math.max(u * dx + v * dy, 0), length);
    const onShaft = Math.hypot(u - along * dx, v - along * dy) < size + 7;
    const onWord = Math.abs(px - word[0]) < half + size && Math.abs(py - word[1]) < 8 + size;
    return onShaft || (half > 0 && onWord);
  });
  const [low, high] = [word[0] - half, word[0] + half];
  const inside = low > left && high < right && word[1] - 8 > top && word[1] + 8 < bottom;
  return covered.length + (inside ? 0 : 1);
}

function drawArrow(group, { dx, dy, foot, tip, word }, name) {
  const [back, wide] = name ? [8, 4] : [6, 3];
  const [bx, by] = [tip[0] - back * dx, tip[1] - back * dy];
  const wing = (turn) => [bx - turn * wide * dy, by + turn * wide * dx];
  const d = `M${foot}L${tip}M${wing(1)}L${tip}L${wing(-1)}`;
  make(group, "path", { d, class: "halo" });
  make(group, "path", { d });
  if (name) make(group, "text", { x: word[0], y: word[1] + 5, "text-anchor": "middle" }, name);
}
