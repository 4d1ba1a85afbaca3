// Making elements, writing numbers, marking axes.

const VECTOR = "http://www.w3.org/2000/svg";

export function make(parent, tag, attributes = {}, text = null) {
  const drawn = tag === "svg" || parent.namespaceURI === VECTOR;
  const node = drawn ? document.createElementNS(VECTOR, tag) : document.createElement(tag);
  set(node, attributes);
  if (text !== null) node.textContent = text;
  parent.append(node);
  return node;
}

export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

export function chartIn(host, width, height, name, kind = "") {
  const viewBox = `0 0 ${width} ${height}`;
  return make(host, "svg", { viewBox, class: kind, role: "img", "aria-label": name });
}

// A figure so tall that it stands in the window together with its controls.
export const figureHeight = () => Math.min(Math.max(innerHeight - 390, 320), 520);

// Numbers as the by-hand table has them: integers whole, others to four digits.
export function number(value) {
  if (value === null || value === undefined) return "–";
  const short = Number.isInteger(value) ? value : Number(value.toPrecision(4));
  return String(short).replace("-", "−");
}

// Numbers with 0 for what rounding left over: less than a part of the largest of them, or of
// numbers beside them.
export function tidied(values, part, beside = []) {
  const widen = (most, value) => Math.max(most, Math.abs(value ?? 0));
  const largest = [values, beside].flat(2).reduce(widen, 0);
  return values.map((value) => (Math.abs(value) < part * largest ? value && 0 : value));
}

export function vector(values) {
  const words = values.slice(0, values.length > 8 ? 6 : 8).map(number);
  return `(${[...words, ...(values.length > 8 ? ["…"] : [])].join(", ")})`;
}

export const clip = (text, most) =>
  text.length > most ? `${text.slice(0, Math.max(most - 1, 1))}…` : text;

// x12, x1^2 and x1 x2 as they are printed.
export function subscript(name) {
  if (!/^(x\d+(\^\d+)?( |$))+$/.test(name)) return name;
  const low = name.replace(/x\d+/g, (word) => word.replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]));
  return low.replace(/\^\d+/g, (power) =>
    power.slice(1).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]));
}

// Each class has a colour and a shape; a pair comes again after 42 classes.

const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`,
  (r) => `M0,${-1.25 * r}L${1.15 * r},${0.8 * r}H${-1.15 * r}z`,
  (r) => `M${-0.9 * r},${-0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
  (r) => `M0,${-1.3 * r}L${1.3 * r},0L0,${1.3 * r}L${-1.3 * r},0z`,
  (r) => `M0,${1.25 * r}L${1.15 * r},${-0.8 * r}H${-1.15 * r}z`,
  (r) => {
    const [a, b] = [(2 * r) / 3, (-2 * r) / 3];
    return `M${-r / 3},${-r}h${a}v${a}h${a}v${a}h${b}v${a}h${b}v${b}h${b}v${b}h${a}z`;
  },
];
export const shape = (k, r) => SHAPES[k % SHAPES.length](r);
export const tint = (k) => `var(--class-${k % 7})`;

// A scale takes values to places; `back` takes places to values.
export function scale([low, high], [from, to]) {
  const unit = (to - from) / (high - low || 1);
  const at = (value) => from + (value - low) * unit;
  return Object.assign(at, { unit, back: (place) => low + (place - from) / unit });
}

export function ticks(low, high, about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = power * ([1, 2, 5].find((m) => m * power >= rough) ?? 10);
  const first = Math.ceil(low / size - 1e-9);
  const last = Math.floor(high / size + 1e-9);
  const round = (value) => Number(value.toPrecision(12));
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => round((first + i) * size));
}
