// Scores on a grid, as regions and the curves between them, by marching squares.
//
// A cell whose corners agree on the best class is that class's. Any other is four triangles around
// its middle, which scores the mean of the corners. Scores are linear on a triangle, so the parts
// of the classes are polygons that leave no gap, and the curves their common edges. A vertex is
// [x, y, score of class 0, score of class 1, ...].

const leadOver = (k, rival) => (vertex) => vertex[k + 2] - vertex[rival + 2];
const between = (p, q, share) => p.map((entry, i) => entry + share * (q[i] - entry));

// Where a lead changes its sign; always reckoned from the side behind, so that neighbouring cells
// find the same numbers.
function crossing(p, q, lead) {
  const [from, to] = lead(p) < 0 ? [p, q] : [q, p];
  return between(from, to, lead(from) / (lead(from) - lead(to)));
}

// What is left of a polygon, or of an open line, where a lead is not negative.
function ahead(vertices, lead, closed) {
  return vertices.flatMap((p, i) => {
    const q = vertices[i + 1] ?? (closed ? vertices[0] : p);
    const kept = lead(p) >= 0 ? [p] : [];
    return lead(p) < 0 === lead(q) < 0 ? kept : [...kept, crossing(p, q, lead)];
  });
}

// The grid as a function of column and row that gives vertices; two classes have one layer, by how
// much the second leads. A unit is a quarter of an octave (grid.py). One feature has a single row,
// which stands for all.
export function verticesOf(text, { box, shape: [across, up] }, K) {
  const units = Int8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const values = Array.from(units, (unit) => Math.sign(unit) * 2 ** ((Math.abs(unit) - 127) / 4));
  const at = (j, [low, high], n) => low + ((high - low) * j) / Math.max(n - 1, 1);
  return (i, j) => {
    const node = Math.min(j, up - 1) * across + i;
    const score = (k) => values[k * across * up + node];
    const scores = K === 2 ? [0, score(0)] : Array.from({ length: K }, (_, k) => score(k));
    return [at(i, box[0], across), at(j, box[1], Math.max(up, 2)), ...scores];
  };
}

// The class that scores highest at a vertex; -1 if several do.
function best(vertex) {
  const scores = vertex.slice(2);
  const k = scores.indexOf(Math.max(...scores));
  return scores.lastIndexOf(scores[k]) === k ? k : -1;
}

// The polygons of each class, and the curves between them.
export function contours(vertexAt, [across, up], K) {
  const regions = Array.from({ length: K }, () => []);
  const pieces = [];
  let below = Array.from({ length: across }, (_, i) => vertexAt(i, 0));
  for (let j = 1; j < Math.max(up, 2); j++) {
    const above = Array.from({ length: across }, (_, i) => vertexAt(i, j));
    rowOf(below, above, regions, pieces);
    below = above;
  }
  return { regions, curves: joined(pieces) };
}

// A row of cells; neighbours of one class become one rectangle.
function rowOf(below, above, regions, pieces) {
  const classes = [below.map(best), above.map(best)];
  const classOf = (i) => {
    const [k, ...others] = classes.flatMap((row) => [row[i], row[i + 1]]);
    return others.every((other) => other === k) ? k : null;
  };
  for (let i = 0, end = 0; i < below.length - 1; i = end) {
    const k = classOf(i);
    for (end = i + 1; k !== null && end < below.length - 1 && classOf(end) === k; ) end++;
    const corners = [below[i], below[end], above[end], above[i]];
    if (k === null) split(corners, regions, pieces);
    else if (k >= 0) regions[k].push(corners);
  }
}

// A cell in which classes meet.
function split(corners, regions, pieces) {
  const middle = corners[0].map((_, i) => corners.reduce((sum, c) => sum + c[i] / 4, 0));
  corners.forEach((corner, i) => {
    const triangle = [corner, corners[(i + 1) % 4], middle];
    regions.forEach((polygons, k) => {
      const rivals = [...regions.keys()].filter((rival) => rival !== k);
      const cutBy = (left, rival) => ahead(left, leadOver(k, rival), true);
      const polygon = rivals.reduce(cutBy, triangle);
      if (polygon.length > 2) polygons.push(polygon);
      for (const rival of rivals.filter((other) => other > k)) {
        const line = tie(triangle, k, rival, rivals);
        if (line) pieces.push(line);
      }
    });
  });
}

// The piece of a triangle on which classes k and rival tie, and nobody is ahead of them.
function tie(triangle, k, rival, rivals) {
  const lead = leadOver(k, rival);
  const sides = triangle.map((p, i) => [p, triangle[(i + 1) % 3]]);
  const crossed = sides.filter(([p, q]) => lead(p) < 0 !== lead(q) < 0);
  const ends = crossed.map(([p, q]) => crossing(p, q, lead));
  const others = rivals.filter((other) => other !== rival);
  const line = others.reduce((left, other) => ahead(left, leadOver(k, other), false), ends);
  return line.length === 2 && place(line[0]) !== place(line[1]) ? line : null;
}

const place = ([x, y]) => `${x},${y}`;

// Pieces that meet, as one curve each, so that dashes run along it; where three meet, curves end.
function joined(pieces) {
  const meeting = new Map();
  for (const piece of pieces)
    for (const end of piece.map(place)) meeting.set(end, [...(meeting.get(end) ?? []), piece]);
  const used = new Set();
  const follow = (piece, start) => {
    const curve = [start];
    for (let next = piece; next && !used.has(next); ) {
      used.add(next);
      const here = place(curve.at(-1));
      curve.push(place(next[0]) === here ? next[1] : next[0]);
      const onward = meeting.get(place(curve.at(-1)));
      next = onward.length === 2 ? onward.find((other) => !used.has(other)) : null;
    }
    return curve;
  };
  const ends = pieces.flatMap((piece) => piece.map((end) => [piece, end]));
  const open = ends.filter(([, end]) => meeting.get(place(end)).length !== 2);
  return [...open, ...ends]
    .filter(([piece]) => !used.has(piece))
    .map(([piece, end]) => !used.has(piece) && follow(piece, end))
    .filter(Boolean);
}
