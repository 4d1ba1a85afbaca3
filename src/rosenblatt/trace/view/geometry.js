// Linear scores in the plane. A plane is [b, w1, w2]; at (x, y) its score is b + w1 x + w2 y.

const score = ([b, w1, w2], [x, y]) => b + w1 * x + w2 * y;
const minus = (p, q) => p.map((entry, i) => entry - q[i]);

// One plane per class; with two classes the first scores nothing, and a single feature lies in
// the plane as w2 = 0. Null if a weight is not finite.
export function planesOf({ coef, intercept }) {
  if (!coef || [...coef.flat(), ...intercept].includes(null)) return null;
  const planes = coef.map((w, k) => [intercept[k], w[0], w[1] ?? 0]);
  return planes.length === 1 ? [[0, 0, 0], planes[0]] : planes;
}

// Whether no line can be drawn yet: all classes weigh the features alike, as at w = 0.
export const flat = (planes) =>
  planes.every((plane) => plane[1] === planes[0][1] && plane[2] === planes[0][2]);

// What is left of a polygon where a plane is positive.
function cut(polygon, plane) {
  if (plane[1] === 0 && plane[2] === 0) return plane[0] > 0 ? polygon : [];
  return polygon.flatMap((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [here, there] = [score(plane, p), score(plane, q)];
    const kept = here >= 0 ? [p] : [];
    if (here < 0 === there < 0) return kept;
    const t = here / (here - there);
    return [...kept, [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]];
  });
}

// The part of a box ([x0, x1], [y0, y1]) in which class k scores highest.
export function region(planes, k, [[x0, x1], [y0, y1]]) {
  const box = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  const rivals = planes.filter((_, j) => j !== k);
  return rivals.reduce((left, rival) => cut(left, minus(planes[k], rival)), box);
}

// The piece of the line `plane = 0` on which no plane of `sides` is negative.
function segment(plane, sides, centre) {
  const [, w1, w2] = plane;
  const length2 = w1 * w1 + w2 * w2;
  if (!(length2 > 0)) return null;
  const far = score(plane, centre) / length2;
  const foot = [centre[0] - far * w1, centre[1] - far * w2];
  let [from, to] = [-Infinity, Infinity];
  for (const side of sides) {
    const here = score(side, foot);
    const rate = side[2] * w1 - side[1] * w2; // along the line, whose direction is (-w2, w1)
    if (rate > 0) from = Math.max(from, -here / rate);
    else if (rate < 0) to = Math.min(to, -here / rate);
    else if (here < 0) return null;
  }
  return from < to ? [from, to].map((t) => [foot[0] - t * w2, foot[1] + t * w1]) : null;
}

// The pieces of line in the box at which two classes tie for the highest score.
export function boundaries(planes, [[x0, x1], [y0, y1]]) {
  const walls = [[-x0, 1, 0], [x1, -1, 0], [-y0, 0, 1], [y1, 0, -1]];
  const centre = [(x0 + x1) / 2, (y0 + y1) / 2];
  const pairs = planes.flatMap((p, k) => planes.slice(0, k).map((q) => [p, q]));
  return pairs
    .map(([p, q]) => {
      const others = planes.filter((r) => r !== p && r !== q).map((r) => minus(p, r));
      return segment(minus(p, q), [...walls, ...others], centre);
    })
    .filter(Boolean);
}

// Limits with room around the points, one unit for both axes where that is sensible.
export function boxAround(points, width, height) {
  const box = [0, 1].map((j) => {
    const [low, high] = points.reduce(
      ([least, most], point) => [Math.min(least, point[j]), Math.max(most, point[j])],
      [Infinity, -Infinity],
    );
    const room = 0.12 * (high - low || 1);
    return [low - room, high + room];
  });
  const [across, up] = box.map(([low, high]) => high - low);
  if (across / up > 3 || up / across > 3) return box;
  const unit = Math.max(across / width, up / height);
  return [width, height].map((pixels, j) => {
    const middle = (box[j][0] + box[j][1]) / 2;
    return [middle - (unit * pixels) / 2, middle + (unit * pixels) / 2];
  });
}

// How much room (pixels across and up) a box takes where the axes share a unit, as above.
export function undistorted(box, width, height) {
  const [across, up] = box.map(([low, high]) => high - low);
  if (across / up > 3 || up / across > 3) return [width, height];
  const pixels = Math.min(width / across, height / up);
  return [across * pixels, up * pixels];
}
