// A recorded fit, replayed: the boundary moving among the points, curves, weights and numbers.
//
// `model` holds `data` (payload.py says what is in it), `step` (an index into data.steps),
// `playing`, and `speed` in steps a second. A chart is a function that draws itself for a width
// and returns a function that shows one step.

import { MOST_CLASSES, bars, curve } from "./charts.js";
import { SPEEDS, controls, keyboard, numbers, pauseAt, player } from "./controls.js";
import { make, shape, tint } from "./drawing.js";
import { flat, planesOf } from "./geometry.js";
import { bitOf, corners } from "./marks.js";
import { fitPicture } from "./fit.js";
import { picture } from "./picture.js";

function titleOf(data) {
  return `${data.model}, ${data.unit} by ${data.unit}`;
}

// What a step is, and then what is seen of it.
function openingOf(data) {
  const step = {
    pass: "a pass over the data",
    update: "one correction of a mistake",
    visit: "one look at an example",
    split: "one leaf that becomes a test",
    tree: "one more tree that votes",
    round: "one more learner that votes",
  }[data.unit];
  return `How the model changed while it was fitted: a step is ${step}.`;
}

function leadOf(data) {
  const ringed = data.points && ["update", "visit"].includes(data.unit);
  const ring = ringed ? " The ringed point is the example visited." : "";
  return `${openingOf(data)} ${seenOf(data)}${tiesOf(data)}${ring}`;
}

function tiesOf({ points, states, grid }) {
  if (!points || !states.some((state) => state.tied)) return "";
  return ` Half-filled points are exactly on the ${grid ? "curve" : "line"}: predicted right, but
    still a mistake while learning goes on.`;
}

// The same of a step at which there is no line yet; nothing of other steps.
function unlearntOf(data, state) {
  const { points, grid } = data;
  const planes = planesOf(state);
  if (!points || !(grid ? state.flat : planes && flat(planes))) return "";
  const right = points.class.findIndex((_, i) => !bitOf(state.wrong ?? "", i));
  const everyone = `every point is predicted as “${data.classes[points.class[right]]}”`;
  const ties = state.tied
    ? " Half-filled points are right by luck: a score of 0 is a mistake while learning goes on."
    : "";
  return `${openingOf(data)} Nothing is learnt yet: ${whyLineless(data)}, and ${everyone}. Hollow
    points are predicted wrongly.${ties}`;
}

function whyLineless({ grid, published, states }) {
  if (grid && !states.at(-1).coef) return "there are no supports, so there is no curve";
  const kind = grid ? "curve" : "line";
  const line = published ? `bold ${kind}` : kind;
  if (states.at(-1).coef.length > 1)
    return `all classes weigh the features alike, so there is no ${line} between them`;
  return `${published ? WHOSE[published] : "all weights"} are zero, so there is no ${line}`;
}

const WHOSE = { mean: "the mean weights", pocket: "the weights in the pocket" };

function seenOf(data) {
  const { points, classes, states, supports } = data;
  const n = states.at(-1).coef?.length ?? 0;
  const [no, yes] = classes;
  if (data.grid) return curvesSeen(data);
  if (data.fit) return fitSeen(data);
  if (points && n === 1)
    return linesSeen(data, yes);
  if (points && n > 1)
    return `Each class holds the region in which its score is highest; pale lines are where the
      boundaries were before${besidesSeen(data)}. Hollow points are in a wrong region.`;
  if (points) return "Hollow points are predicted wrongly.";
  const bar = supports ? "Each bar is how much an example counts in the score. A bar" : "A bar";
  const weighs = supports ? "counts the examples" : "weighs the features";
  if (classes.length === 2 && (n === 1 || supports))
    return `${bar} to the right speaks for “${yes}”, one to the left for “${no}”.`;
  const several = classes.length > 0 && n > 1;
  return several || supports ? `Each class ${weighs} in its own way; the highest score wins.` : "";
}

function linesSeen({ published }, yes) {
  const score = "where the score w·x\u00a0+\u00a0b";
  if (!published)
    return `The line is ${score} is zero, with its arrow w on the side of “${yes}”; pale lines are
      where it was before. Hollow points are on the wrong side.`;
  return `The bold line is ${score} of ${WHOSE[published]} is zero, with its arrow on the side of
    “${yes}”; pale lines are where it was before, and the dashed line is that of the current
    weights. Hollow points are on the wrong side of the bold line.`;
}

function fitSeen({ fit: { straight }, expanded }) {
  const line = straight ? "line" : "curve";
  const seen = `The ${line} is what the model predicts; pale ${line}s are where it was before.`;
  return `${seen}${expanded ? BARS : ""}`;
}

const BARS = " The bars are the weights of what it is made of.";

const besidesSeen = ({ published }) =>
  published ? `, and dashed lines are those of the current weights, beside their ${published}` : "";

function curvesSeen({ classes, states, expanded }) {
  const curve = classes.length === 2
    ? "The curve is where the score is zero; pale curves are where it was before."
    : `Each class holds the region in which its score is highest; pale curves are where the
      boundaries were before.`;
  const supports = states.some((state) => state.turned)
    ? " Corners mark the supports, the examples that the model is made of."
    : "";
  const bars = expanded && states.at(-1).coef ? BARS : "";
  const sizes = states.at(-1).sizes ? " The larger a point, the more it weighs in the round." : "";
  return `${curve} Hollow points are predicted wrongly.${sizes}${supports}${bars}`;
}

// What was left out, and which run this is.
function notesOf(data) {
  const { points, features, classes, steps, supports } = data;
  const cloud = points ?? data.fit;
  const weighed = (!points || data.expanded) && features.length > 0;
  const n_support = data.states.at(-1).n_support;
  return [
    steps.length < data.n_steps &&
      `Of ${data.n_steps} steps, an even selection of ${steps.length} is shown, the first and the
      last among them.`,
    cloud && cloud.sampled < cloud.n &&
      `Of ${cloud.n} points, a fixed random sample of ${cloud.sampled} is drawn; error and
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

function legend(host, { classes, states, published, grid }) {
  const list = make(host, "ul", { class: "legend", "aria-label": "Key" });
  const item = (name, kind, width, ...paths) => {
    const place = make(list, "li");
    const viewBox = `${-width / 2} -8 ${width} 16`;
    const size = { viewBox, width, height: 16, "aria-hidden": "true" };
    const group = make(make(place, "svg", size), "g", { class: kind });
    for (const attributes of paths) make(group, "path", attributes);
    make(place, "span", {}, name);
  };
  const line = (name, kind) => item(name, kind, 26, { d: "M-13,0H13" });
  const mark = (k) => ({ d: shape(k, 5.5), style: `fill: ${tint(k)}` });
  classes.forEach((name, k) => item(name, "", 16, mark(k)));
  const frame = [{ d: corners(7), class: "supports" }, { d: shape(0, 2.5), class: "within" }];
  if (states.some((state) => state.turned)) item("support", "", 16, ...frame);
  if (published) line(published, "boundary");
  if (published && !grid) line("current", "running");
  if (states.length > 2) line("earlier", "trail pale");
}

// Both paragraphs have the same place, so that nothing moves when one gives way to the other.
function words(head, data) {
  const place = make(head, "div", { class: "words" });
  const lead = make(place, "p", {}, leadOf(data));
  const unlearnt = make(place, "p");
  return (at) => {
    unlearnt.textContent = unlearntOf(data, data.states[data.steps[at].state]);
    lead.classList.toggle("away", unlearnt.textContent !== "");
  };
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
  const drawn = data.points || data.fit;
  const frame = make(root, "div", { class: drawn ? "figure with-picture" : "figure" });
  const place = (host, chart) =>
    fitted(make(host, "div", { class: "chart" }), chart, data, jump);
  const main = make(frame, "div", { class: "main" });
  const side = make(frame, "div", { class: "side" });
  if (data.points) legend(main, data);
  const shown = data.points ? picture : data.fit ? fitPicture : barsOf(data);
  const below = drawn && data.expanded ? barsOf(data) : null;
  const errors = [{ of: "error", name: data.published }];
  if (data.published) errors.push({ of: "last_error", name: "current", current: true });
  const objective = data.published
    ? curve("objective of the current weights", { of: "last_objective", current: true })
    : curve("objective", { of: "objective" });
  const told = (name) => data.states.some((known) => (known[name] ?? null) !== null);
  return [
    shown && place(main, shown),
    below && place(main, below),
    state.error !== null && place(side, curve("training error", ...errors)),
    state.objective !== null && place(side, objective),
    told("dual_gap") && place(side, curve("duality gap", { of: "dual_gap", decades: true })),
    told("gradient_norm") &&
      place(side, curve("gradient norm", { of: "gradient_norm", decades: true })),
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
  const showWords = words(head, data);
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
    showWords(at);
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
