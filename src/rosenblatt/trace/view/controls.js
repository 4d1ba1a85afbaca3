// The numbers of a step, and the ways to move between steps.

import { make, number, set, tidied, vector } from "./drawing.js";

export const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32, 64];

// Quantities are short for the eye and exact in `data-value`.
export function numbers(host, data) {
  const list = make(host, "dl", { class: "numbers", "aria-live": "polite" });
  const state = data.states.at(-1);
  const single = ["update", "visit"].includes(data.unit);
  const whose = data.published ? ` (${data.published})` : "";
  const several = state.intercept?.length > 1 ? "s" : "";
  const counted = data.steps.at(-1).n_updates !== null;
  const shown = {
    step: ["step", true],
    news: [`the ${data.unit}`, state.news !== undefined],
    epoch: ["pass", single],
    row: ["row", single],
    score: ["score before", single],
    right: ["right?", single],
    mistakes: ["mistakes", counted && !single],
    n_updates: [single ? "mistakes so far" : "so far", counted],
    error: [`error${whose}`, state.error !== null],
    last_error: ["error (current)", state.last_error !== undefined],
    objective: ["objective", state.objective !== null && !data.published],
    last_objective: ["objective (current)", (state.last_objective ?? null) !== null],
    dual_gap: ["duality gap", state.dual_gap !== undefined],
    gradient_norm: ["gradient norm", state.gradient_norm !== undefined],
    alpha: ["penalty alpha", state.alpha !== undefined],
    n_kept: ["features kept", state.n_kept !== undefined],
    n_support: ["supports", state.n_support !== undefined],
    intercept: [`intercept${several}${whose}`, Boolean(state.intercept)],
    coef: [`weights${whose}`, Boolean(state.coef)],
    last_intercept: [`intercept${several} (current)`, Boolean(state.last_intercept)],
    last_coef: ["weights (current)", Boolean(state.last_coef)],
  };
  const fields = {};
  for (const [name, [label, wanted]] of Object.entries(shown)) {
    if (!wanted) continue;
    const pair = make(list, "div", { class: name });
    make(pair, "dt", {}, label);
    fields[name] = make(pair, "dd", { "data-quantity": name });
  }
  return (at) => {
    const quantities = quantitiesOf(data, at);
    for (const [name, field] of Object.entries(fields)) {
      const [exact, text] = quantities[name];
      field.dataset.value = JSON.stringify(exact ?? null);
      field.textContent = text;
    }
  };
}

function quantitiesOf(data, at) {
  const step = data.steps[at];
  const state = data.states[step.state];
  const right = step.mistake === undefined ? null : !step.mistake;
  const plain = (value) => [value, number(value)];
  const several = (value) => [value, value?.length > 1 ? vector(value) : number([value].flat()[0])];
  // Weights and biases are judged together when it comes to what rounding left over of them.
  const biases = (value, rows) => {
    const alone = (bias, k) => tidied([bias], data.rounding, rows?.[k])[0];
    return [value, several(value?.map(alone))[1]];
  };
  const table = (rows, value) => {
    const tidy = (row, k) => vector(tidied(row, data.rounding, [value?.[k] ?? 0]));
    const words = rows?.map(tidy) ?? ["–"];
    return [rows, words.length > 4 ? `${words.length} rows` : words.join("  ")];
  };
  return {
    step: [step.step, `${number(step.step)} of ${number(data.n_steps - 1)}`],
    news: [state.news, state.news || "–"],
    epoch: plain(step.epoch),
    row: plain(step.row),
    score: several(step.score),
    right: [right, right === null ? "–" : right ? "yes" : "no"],
    mistakes: plain(step.mistakes),
    n_updates: plain(step.n_updates),
    error: plain(state.error),
    last_error: plain(state.last_error),
    objective: plain(state.objective),
    last_objective: plain(state.last_objective),
    dual_gap: plain(state.dual_gap),
    gradient_norm: plain(state.gradient_norm),
    alpha: plain(state.alpha),
    n_kept: plain(state.n_kept),
    n_support: plain(state.n_support),
    intercept: biases(state.intercept, state.coef ?? state.dual),
    coef: table(state.coef, state.intercept),
    last_intercept: biases(state.last_intercept, state.last_coef),
    last_coef: table(state.last_coef, state.last_intercept),
  };
}

// Moving.

export function go(model, step) {
  model.set("step", Math.min(Math.max(step, 0), model.get("data").steps.length - 1));
  model.save_changes?.();
}

export function pauseAt(model, step) {
  model.set("playing", false);
  go(model, step);
}

function toggle(model) {
  const last = model.get("data").steps.length - 1;
  if (!model.get("playing") && model.get("step") >= last) go(model, 0);
  model.set("playing", !model.get("playing"));
}

export function player(model) {
  let timer;
  const wait = () => {
    timer = setTimeout(tick, 1000 / model.get("speed"));
  };
  const tick = () => {
    go(model, model.get("step") + 1);
    if (model.get("step") >= model.get("data").steps.length - 1) model.set("playing", false);
    else wait();
  };
  const heed = () => {
    clearTimeout(timer);
    if (model.get("playing")) wait();
  };
  model.on("change:playing", heed);
  return () => {
    clearTimeout(timer);
    model.off("change:playing", heed);
  };
}

// Arrows step, space plays, home and end jump: anywhere on a saved page, here in a notebook.
export function keyboard(el, model) {
  const ground = el.closest("[data-standalone]") ?? el;
  const strides = { ArrowRight: 1, ArrowUp: 1, PageUp: 10 };
  Object.assign(strides, { ArrowLeft: -1, ArrowDown: -1, PageDown: -10 });
  const press = (event) => {
    const within = (tag) => event.target.closest?.(tag);
    if (event.altKey || event.ctrlKey || event.metaKey || within("select")) return;
    if (event.key in strides) pauseAt(model, model.get("step") + strides[event.key]);
    else if (event.key === "Home") pauseAt(model, 0);
    else if (event.key === "End") pauseAt(model, Infinity);
    else if (event.key === " " && !within("button")) toggle(model);
    else return;
    event.preventDefault();
  };
  ground.addEventListener("keydown", press);
  return () => ground.removeEventListener("keydown", press);
}

// The slider and the buttons.

const ICONS = {
  back: "M10,3L4,8L10,13z M3,3h1.6v10h-1.6z",
  play: "M4,2.5L13,8L4,13.5z",
  pause: "M4,3h3v10h-3z M9,3h3v10h-3z",
  forward: "M6,3L12,8L6,13z M11.4,3h1.6v10h-1.6z",
};

function button(bar, icon, label, action) {
  const attributes = { type: "button", "aria-label": label, title: label, "data-action": icon };
  const node = make(bar, "button", attributes);
  const size = { viewBox: "0 0 16 16", width: 22, height: 22, "aria-hidden": "true" };
  make(make(node, "svg", size), "path", { d: ICONS[icon] });
  node.addEventListener("click", action);
  return node;
}

function speedMenu(bar, model) {
  const label = make(bar, "label", { class: "speed" });
  make(label, "span", {}, "speed");
  const menu = make(label, "select", { "aria-label": "Steps a second" });
  for (const value of SPEEDS) make(menu, "option", { value }, `${value < 1 ? "½" : value}/s`);
  menu.value = model.get("speed");
  menu.addEventListener("change", () => model.set("speed", Number(menu.value)));
}

export function controls(host, model) {
  const data = model.get("data");
  const last = data.steps.length - 1;
  const bar = make(host, "div", { class: "controls", role: "group", "aria-label": "Replay" });
  button(bar, "back", "One step back", () => pauseAt(model, model.get("step") - 1));
  const play = button(bar, "play", "Play", () => toggle(model));
  button(bar, "forward", "One step forward", () => pauseAt(model, model.get("step") + 1));
  const range = { type: "range", min: 0, max: last, step: 1, value: 0, "aria-label": "Step" };
  const slider = make(bar, "input", range);
  slider.addEventListener("input", () => pauseAt(model, Number(slider.value)));
  speedMenu(bar, model);
  model.on("change:playing", () => {
    const [icon, label] = model.get("playing") ? ["pause", "Pause"] : ["play", "Play"];
    set(play, { "aria-label": label, title: label });
    set(play.querySelector("path"), { d: ICONS[icon] });
  });
  return (at) => {
    const { step, state } = data.steps[at];
    const spoken = `step ${step} of ${data.n_steps - 1}, error ${number(data.states[state].error)}`;
    slider.value = at;
    slider.setAttribute("aria-valuetext", spoken);
    slider.style.setProperty("--share", at / Math.max(last, 1));
  };
}
