// A regression on one feature: the points, its line at this step, and where the line was before.

import { chartIn, make, shape, tint } from "./drawing.js";
import { boundaries } from "./geometry.js";
import { sizeOf } from "./marks.js";
import { FADING, axes, earlierStates, mover, outline, spaceFor } from "./picture.js";

export function fitPicture(host, data, width) {
  const names = [data.features[0], "target"];
  const space = spaceFor({ features: names, points: data.fit }, width);
  const svg = chartIn(host, width, space.height, "The points, and the line of the model");
  axes(svg, space, names);
  const past = make(svg, "g", { class: "trail" });
  dots(svg, space, data.fit);
  const now = make(svg, "g", { class: "boundary" });
  const moveTo = mover((lines) => {
    now.replaceChildren();
    drawLine(now, space, lines?.[0]);
  });
  return (at, milliseconds) => {
    past.replaceChildren();
    earlierStates(data, at).forEach((state, age) =>
      drawLine(past, space, lineOf(data.states[state]), { opacity: FADING[age] }));
    const line = lineOf(data.states[data.steps[at].state]);
    moveTo(line && [line], milliseconds);
  };
}

// Intercept and slope; null if they are not finite.
function lineOf({ coef, intercept }) {
  const line = coef && [intercept[0], coef[0][0]];
  return line && !line.includes(null) ? line : null;
}

// The part in the box of the line y = b + w x, which is where b + w x - y is zero.
function drawLine(group, space, line, attributes = {}) {
  if (!line) return;
  const [part] = boundaries([[0, 0, 0], [line[0], line[1], -1]], space.box);
  if (part) make(group, "path", { d: outline(part, space), ...attributes });
}

function dots(svg, { x, y }, points) {
  const group = make(svg, "g", { class: "marks" });
  const d = shape(0, 0.7 * sizeOf(points));
  for (const [a, b] of points.at) {
    const transform = `translate(${x(a).toFixed(2)},${y(b).toFixed(2)})`;
    make(group, "path", { d, transform, style: `--mark: ${tint(0)}` });
  }
}
