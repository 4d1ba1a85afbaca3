// A recorded fit, replayed: the boundary moving among the points, curves, weights and numbers.
//
// `model` holds `data` (payload.py says what is in it), `step` (an index into data.steps),
// `playing`, and `speed` in steps a second. A chart is a function that draws itself for a width
// and returns a function that shows one step.

import { MOST_CLASSES, bars, curve } from "./charts.js";
import { SPEEDS, controls, keyboard, numbers, pauseAt, player } from "./controls.js";
import { make, shape, tint } from "./drawing.js";
import { picture } from "./picture.js";

function titleOf(data) {
  return `${data.model}, ${data.unit} by ${data.unit}`;
}

// One paragraph on what is seen.
function leadOf(data) {
  const step = {
    pass: "a pass over the data",
    update: "one correction of a mistake",
    visit: "one look at an example",
  }[data.unit];
  const lead = `How the model changed while it was fitted: a step is ${step}.`;
  const ringed = data.grid ? "The bold ring is around" : "The ringed point is";
  const ring = data.unit === "pass" ? "" : ` ${ringed} the example visited.`;
  return `${lead} ${seenOf(data)}${tiesOf(data)}${data.points ? ring : ""}`;
}

function tiesOf({ points, states }) {
  if (!points || !states.some((state) => state.tied)) return "";
  return ` Half-filled points are exactly on the line: predicted right, but still a mistake while
    learning goes on.`;
}

function seenOf(data) {
  const { points, classes, states, supports } = data;
  const n = states.at(-1).coef?.length ?? 0;
  const [no, yes] = classes;
  if (data.grid) return curvesSeen(data);
  if (points && n === 1)
    return linesSeen(data, yes);
  if (points && n > 1)
    return `Each class holds the region in which its score is highest; dashed lines are where the
      boundaries were before${besidesSeen(data)}. Hollow points are in a wrong region.`;
  if (points) return "Hollow points are predicted wrongly.";
  const bar = supports ? "Each bar is how much an example counts in the score. A bar" : "A bar";
  const weighs = supports ? "counts the examples" : "weighs the features";
  if (classes.length === 2 && (n === 1 || supports))
    return `${bar} to the right speaks for “${yes}”, one to the left for “${no}”.`;
  return n > 1 || supports ? `Each class ${weighs} in its own way; the highest score wins.` : "";
}

function linesSeen({ published }, yes) {
  const score = "where the score w·x\u00a0+\u00a0b";
  if (!published)
    return `The line is ${score} is zero, with its arrow w on the side of “${yes}”; dashed lines are
      where it was before. Hollow points are on the wrong side.`;
  const whose = { mean: "mean weights", pocket: "weights in the pocket" }[published];
  return `The bold line is ${score} of the ${whose} is zero, with its arrow on the side of “${yes}”;
    dashed lines are where it was before, and the thin line is that of the current weights. Hollow
    points are on the wrong side of the bold line.`;
}

const besidesSeen = ({ published }) =>
  published ? `, and thin lines are those of the current weights, beside their ${published}` : "";

function curvesSeen({ classes, states }) {
  const curve = classes.length === 2
    ? "The curve is where the score is zero; dashed curves are where it was before."
    : `Each class holds the region in which its score is highest; dashed curves are where the
      boundaries were before.`;
  const supports = states.some((state) => state.turned)
    ? " Thin rings mark the supports, the examples that the model is made of."
    : "";
  return `${curve} Hollow points are predicted wrongly.${supports}`;
}

// What was left out, and which run this is.
function notesOf(data) {
  const { points, features, classes, steps, supports } = data;
  const weighed = !points && features.length > 0;
  const n_support = data.states.at(-1).n_support;
  return [
    steps.length < data.n_steps &&
      `Of ${data.n_steps} steps, an even selection of ${steps.length} is shown, the first and the
      last among them.`,
    points && points.sampled < points.n &&
      `Of ${points.n} points, a fixed random sample of ${points.sampled} is drawn; error and
      objective are those of all.`,
    weighed && features.length < data.n_features &&
      `Of ${data.n_features} weights, the ${features.length} that ended largest are shown.`,
    supports && supports.length < n_support &&
      `Of ${n_support} supports, the ${supports.length} that ended largest are shown.`,
    (weighed || supports) && classes.length > MOST_CLASSES &&
      `Of ${classes.length} classes, the first ${MOST_CLASSES} are shown.`,
    data.run !== data.model && `Run: ${data.run}.`,
    "Arrow keys step, space plays, home and end jump; the curves can be dragged.",
  ].filter(Boolean);
}

function legend(host, { classes, states, published }) {
  const list = make(host, "ul", { class: "legend", "aria-label": "Key" });
  const item = (name, kind, attributes) => {
    const place = make(list, "li");
    const size = { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" };
    make(make(make(place, "svg", size), "g", { class: kind }), "path", attributes);
    make(place, "span", {}, name);
  };
  classes.forEach((name, k) => item(name, "", { d: shape(k, 5.5), style: `fill: ${tint(k)}` }));
  const ring = { d: shape(0, 6), class: "supports" };
  if (states.some((state) => state.turned)) item("support", "", ring);
  if (published) item(published, "boundary", { d: "M-8,0H8" });
  if (published) item("current", "running", { d: "M-8,0H8" });
}

// A chart is drawn anew when its width changes, so that its letters keep their size.
function fitted(host, chart, data, jump) {
  let show = () => {};
  let now = [0, 0];
  let width = 0;
  const watcher = new ResizeObserver(([entry]) => {
    const wide = Math.floor(entry.contentRect.width);
    if (wide === width || wide < 50) return;
    width = wide;
    host.replaceChildren();
    show = chart(host, data, width, jump);
    show(now[0], 0);
  });
  watcher.observe(host);
  return { show: (...step) => show(...(now = step)), remove: () => watcher.disconnect() };
}

// The figure: the picture or the weights, and beside it the curves.
function figure(root, data, jump) {
  const state = data.states.at(-1);
  const frame = make(root, "div", { class: data.points ? "figure with-picture" : "figure" });
  const place = (host, chart) =>
    fitted(make(host, "div", { class: "chart" }), chart, data, jump);
  const main = make(frame, "div", { class: "main" });
  const side = make(frame, "div", { class: "side" });
  if (data.points) legend(main, data);
  const shown = data.points ? picture : barsOf(data);
  const objective = data.published ? `objective of the ${data.published}` : "objective";
  const errors = [{ of: "error", name: data.published }];
  if (data.published) errors.push({ of: "last_error", name: "current" });
  return [
    shown && place(main, shown),
    state.error !== null && place(side, curve("training error", ...errors)),
    state.objective !== null && place(side, curve(objective, { of: "objective" })),
  ].filter(Boolean);
}

function barsOf({ states, features, supports }) {
  if (states.at(-1).coef) return bars("weights", features, "coef");
  const labels = supports?.map((row) => `row ${row}`) ?? [];
  return labels.length > 0 ? bars("coefficients of the supports", labels, "dual") : null;
}

// How long a move may take: only single steps are followed, and only by those who like motion.
function pace(model) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let before = model.get("step");
  return (at) => {
    const time = model.get("playing") ? 500 / model.get("speed") : 200;
    const single = Math.abs(at - before) === 1;
    before = at;
    return single && time > 100 && !still.matches ? Math.min(time, 250) : 0;
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const unhurried = SPEEDS.find((speed) => data.steps.length / speed <= 20) ?? SPEEDS.at(-1);
  if (!model.get("speed")) model.set("speed", unhurried);
  const root = make(el, "section", { class: "rosenblatt", "aria-label": titleOf(data) });
  const head = make(root, "header");
  make(head, "h1", {}, titleOf(data));
  make(head, "p", {}, leadOf(data));
  const charts = figure(root, data, (step) => pauseAt(model, step));
  const showNumbers = numbers(make(root, "div", { class: "desk" }), data);
  const showControls = controls(root, model);
  const foot = make(root, "footer");
  for (const note of notesOf(data)) make(foot, "p", {}, note);

  const timeFor = pace(model);
  const show = () => {
    const at = model.get("step");
    const milliseconds = timeFor(at);
    for (const chart of charts) chart.show(at, milliseconds);
    showNumbers(at);
    showControls(at);
  };
  // Numbers are read aloud as they change, but not while they run.
  const quiet = () => {
    const word = model.get("playing") ? "off" : "polite";
    root.querySelector(".numbers").setAttribute("aria-live", word);
  };
  model.on("change:step", show);
  model.on("change:playing", quiet);
  const ends = [keyboard(el, model), player(model), ...charts.map((chart) => chart.remove)];
  show();
  return () => {
    model.off("change:step", show);
    model.off("change:playing", quiet);
    for (const end of ends) end();
  };
}

export default { render };
