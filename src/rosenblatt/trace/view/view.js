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
  const ring = data.unit === "pass" ? "" : " The ringed point is the example visited.";
  return `${lead} ${seenOf(data)}${tiesOf(data)}${data.points ? ring : ""}`;
}

function tiesOf({ points, states }) {
  if (!points || !states.some((state) => state.tied)) return "";
  return ` Half-filled points are exactly on the line: predicted right, but still a mistake while
    learning goes on.`;
}

function seenOf({ points, classes, states }) {
  const n = states.at(-1).coef?.length ?? 0;
  const [no, yes] = classes;
  if (points && n === 1)
    return `The line is where the score w·x\u00a0+\u00a0b is zero, with its arrow w on the side of
      “${yes}”; dashed lines are where it was before. Hollow points are on the wrong side.`;
  if (points && n > 1)
    return `Each class holds the region in which its score is highest; dashed lines are where the
      boundaries were before. Hollow points are in a wrong region.`;
  if (points) return "Hollow points are predicted wrongly.";
  if (n === 1 && classes.length === 2)
    return `A bar to the right speaks for “${yes}”, one to the left for “${no}”.`;
  return n > 1 ? "Each class weighs the features in its own way; the highest score wins." : "";
}

// What was left out, and which run this is.
function notesOf(data) {
  const { points, features, classes, steps } = data;
  const weighed = !points && features.length > 0;
  return [
    steps.length < data.n_steps &&
      `Of ${data.n_steps} steps, an even selection of ${steps.length} is shown, the first and the
      last among them.`,
    points && points.sampled < points.n &&
      `Of ${points.n} points, a fixed random sample of ${points.sampled} is drawn; error and
      objective are those of all.`,
    weighed && features.length < data.n_features &&
      `Of ${data.n_features} weights, the ${features.length} that ended largest are shown.`,
    weighed && classes.length > MOST_CLASSES &&
      `Of ${classes.length} classes, the first ${MOST_CLASSES} are shown.`,
    data.run !== data.model && `Run: ${data.run}.`,
    "Arrow keys step, space plays, home and end jump; the curves can be dragged.",
  ].filter(Boolean);
}

function legend(host, classes) {
  const list = make(host, "ul", { class: "legend", "aria-label": "Classes" });
  classes.forEach((name, k) => {
    const item = make(list, "li");
    const size = { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" };
    make(make(item, "svg", size), "path", { d: shape(k, 5.5), style: `fill: ${tint(k)}` });
    make(item, "span", {}, name);
  });
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
  if (data.points) legend(main, data.classes);
  return [
    data.points ? place(main, picture) : state.coef && place(main, bars),
    state.error !== null && place(side, curve("training error", "error")),
    state.objective !== null && place(side, curve("objective", "objective")),
  ].filter(Boolean);
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
