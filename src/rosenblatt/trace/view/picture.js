// One or two features: points by class, the region of each, the boundary and its past, the visit.

import { contours, verticesOf } from "./contours.js";
import { boundaries, boxAround, flat, planesOf, region, undistorted } from "./geometry.js";
import { chartIn, figureHeight, make, number, scale } from "./drawing.js";
import { subscript, ticks, tint } from "./drawing.js";
import { marks, supports, visit } from "./marks.js";

const PAD = { left: 38, right: 10, top: 10, bottom: 40 };

export function picture(host, data, width) {
  const space = spaceFor(data, width);
  const name = "The points, and the boundary between the classes";
  const svg = chartIn(host, width, space.height, name);
  const curvesOf = data.grid && curvesOn(data.grid, data.classes.length);
  const drawing = (state) => curvesOf?.(state) ?? linesOf(planesOf(state), space.box);
  const showRegions = regions(svg, space);
  axes(svg, space, data.features);
  const showTrail = trail(svg, space, data, drawing);
  const showErrors = marks(svg, space, data.points);
  const showSupports = supports(svg, space, data.points, data.states);
  const showRun = lines(make(svg, "g", { class: "running" }), space);
  const linear = data.states.at(-1).coef?.length === 1;
  const showLine = boundary(svg, space, linear ? (data.published ?? "w") : null);
  const showVisit = visit(svg, space, data.points);
  const show = (drawn) => {
    showRegions(drawn);
    showLine(drawn);
  };
  const moveTo = mover((planes) => show(linesOf(planes, space.box)));
  const moveRunTo = mover((planes) => showRun(linesOf(planes, space.box)));
  return (at, milliseconds) => {
    const step = data.steps[at];
    const state = data.states[step.state];
    showTrail(at);
    showErrors(state.wrong ?? "", state.tied ?? "", step.row);
    showSupports(step.state);
    showVisit(step);
    if (data.grid) return show(drawing(state));
    moveTo(planesOf(state), milliseconds);
    moveRunTo(planesOf({ coef: state.last_coef, intercept: state.last_intercept }), milliseconds);
  };
}

// The box that is shown, and where: a grid has its own, and is shown whole and undistorted.
function spaceFor({ features, points, grid }, width) {
  const tall = features.length === 1 ? 190 : Math.min(width, figureHeight());
  const room = [width - PAD.left - PAD.right, tall - PAD.top - PAD.bottom];
  const box = grid?.box ?? boxAround(points.at, ...room);
  const [across, up] = grid && features.length > 1 ? undistorted(box, ...room) : room;
  const [left, right, top, bottom] = [PAD.left, PAD.left + across, PAD.top, PAD.top + up];
  const [x, y] = [scale(box[0], [left, right]), scale(box[1], [bottom, top])];
  return { height: bottom + PAD.bottom, left, right, top, bottom, box, x, y };
}

// What is drawn of a state: polygons by class, the curves between them, or why there are none.

const NOTHING = { regions: [], curves: [], lineless: "" };

function linesOf(planes, box) {
  if (!planes) return NOTHING;
  const regions = planes.map((_, k) => [region(planes, k, box)].filter((part) => part.length));
  const lineless = flat(planes) ? "w = 0: no line yet" : "";
  return { planes, regions, curves: boundaries(planes, box), lineless };
}

// The latest are kept, since a trail shows them again.
function curvesOn(grid, K) {
  const latest = new Map();
  return (state) => {
    if (!state.scores) return NOTHING;
    if (!latest.has(state)) {
      const lineless = state.flat ? "no supports: no line yet" : "";
      const drawn = contours(verticesOf(state.scores, grid, K), grid.shape, K);
      latest.set(state, { ...drawn, lineless });
      if (latest.size > 8) latest.delete(latest.keys().next().value);
    }
    return latest.get(state);
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

function axes(svg, { height, left, right, top, bottom, box, x, y }, names) {
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

// Where the boundary was, up to three changes ago.
function trail(svg, space, data, drawing) {
  const group = make(svg, "g", { class: "trail" });
  return (at) => {
    group.replaceChildren();
    const recent = data.steps.slice(Math.max(0, at - 40), at + 1).map((step) => step.state);
    const past = [...new Set(recent)].slice(0, -1).slice(-3).reverse();
    past.forEach((state, age) => {
      const opacity = [0.55, 0.3, 0.16][age];
      for (const curve of drawing(data.states[state]).curves)
        make(group, "path", { d: outline(curve, space), opacity });
    });
  };
}

const lines = (group, space) => (drawn) => {
  group.replaceChildren();
  for (const curve of drawn.curves) make(group, "path", { d: outline(curve, space) });
};

// The boundary, with the weights as an arrow if it has a name for them, or why there is none.
function boundary(svg, space, name) {
  const showLines = lines(make(svg, "g", { class: "boundary" }), space);
  const arrow = make(svg, "g", { class: "normal" });
  const middle = (space.left + space.right) / 2;
  const place = { x: middle, y: space.top + 18, "text-anchor": "middle", class: "lineless" };
  const word = make(svg, "text", place);
  return (drawn) => {
    word.textContent = drawn.lineless;
    showLines(drawn);
    arrow.replaceChildren();
    if (name && drawn.curves.length > 0)
      normal(arrow, space, drawn.planes[1], drawn.curves[0], name);
  };
}

// The arrow w, square to the line as drawn, on the side where the score is positive.
function normal(group, { x, y }, [, w1, w2], [p, q], name) {
  const steepness = Math.hypot(w1 / x.unit, w2 / y.unit);
  const [dx, dy] = [w1 / x.unit / steepness, w2 / y.unit / steepness];
  const [fx, fy] = [x((p[0] + q[0]) / 2), y((p[1] + q[1]) / 2)];
  const tip = [fx + 40 * dx, fy + 40 * dy];
  const wing = (turn) => [tip[0] - 8 * dx - turn * 4 * dy, tip[1] - 8 * dy + turn * 4 * dx];
  const d = `M${fx},${fy}L${tip}M${wing(1)}L${tip}L${wing(-1)}`;
  make(group, "path", { d, class: "halo" });
  make(group, "path", { d });
  const away = name.length > 1 ? 28 : 12;
  const place = { x: tip[0] + away * dx, y: tip[1] + 12 * dy + 4, "text-anchor": "middle" };
  make(group, "text", place, name);
}
