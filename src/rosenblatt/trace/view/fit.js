// A regression on one column: the points, its curve at this step, and where the curve was before.

import { chartIn, make, shape, tint } from "./drawing.js";
import { sizeOf } from "./marks.js";
import { FADING, axes, earlierStates, mover, outline, spaceFor } from "./picture.js";

export function fitPicture(host, data, width) {
  const names = [data.axes[0], "target"];
  const space = spaceFor({ axes: names, box: data.fit.box }, width);
  const svg = chartIn(host, width, space.height, "The points, and the curve of the model");
  axes(svg, space, names);
  const past = make(inBox(svg, space), "g", { class: "trail" });
  dots(svg, space, data.fit);
  const now = make(inBox(svg, space), "g", { class: "boundary" });
  const draw = (group, values, attributes = {}) => {
    const d = values && outline(placesOf(values, data.fit.across), space);
    if (d) make(group, "path", { d, ...attributes });
  };
  const moveTo = mover((curves) => {
    now.replaceChildren();
    draw(now, curves?.[0]);
  });
  return (at, milliseconds) => {
    past.replaceChildren();
    earlierStates(data, at).forEach((state, age) =>
      draw(past, curveOf(data.states[state]), { opacity: FADING[age] }));
    const curve = curveOf(data.states[data.steps[at].state]);
    moveTo(curve && [curve], milliseconds);
  };
}

// What is predicted at places across; null if some of it is not finite.
const curveOf = ({ curve }) => (curve && !curve.includes(null) ? curve : null);

const placesOf = (values, [from, to]) =>
  values.map((value, i) => [from + ((to - from) * i) / (values.length - 1), value]);

// A window of the size of the box: a curve may leave it, and come back.
function inBox(svg, { left, right, top, bottom }) {
  const [width, height] = [right - left, bottom - top];
  const place = { x: left, y: top, width, height, viewBox: `${left} ${top} ${width} ${height}` };
  return make(svg, "svg", { ...place, class: "window" });
}

function dots(svg, { x, y }, points) {
  const group = make(svg, "g", { class: "marks" });
  const d = shape(0, 0.7 * sizeOf(points));
  for (const [a, b] of points.at) {
    const transform = `translate(${x(a).toFixed(2)},${y(b).toFixed(2)})`;
    make(group, "path", { d, transform, style: `--mark: ${tint(0)}` });
  }
}
