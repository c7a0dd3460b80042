export type Box = Readonly<{ left: number; right: number; top: number; bottom: number }>;

/** A name that must be near its point. */
export type Label = Readonly<{ text: string; cx: number; cy: number }>;
/** A stroke that a name should not lie on. */
export type Stroke = Readonly<{ x1: number; y1: number; x2: number; y2: number }>;
export type PlacedLabel = Readonly<{ text: string; x: number; y: number }>;

const character = 6.4;
const height = 12;

/**
 * Puts each name near to its point, where it covers nothing, lies on no stroke and is not nearer to another point. One name
 * after the other takes its place, so several orders are tried, and the one with the least cost is taken.
 */
export function placeLabels(
  labels: readonly Label[],
  marks: readonly Box[],
  frame: Box,
  strokes: readonly Stroke[] = [],
): readonly PlacedLabel[] {
  const orders = labels.map((_, i) => [...labels.slice(i), ...labels.slice(0, i)]);
  const dots = strokes.flatMap(dotsOn);
  const tried = orders.map((order) => placeInOrder(order, { labels, marks, frame, dots }));
  const [best] = tried.toSorted((a, b) => a.cost - b.cost);
  return labels.flatMap((label) => {
    const box = best?.placed.get(label);
    return box ? [{ text: label.text, x: box.left, y: box.bottom - 2 }] : [];
  });
}

type Surroundings = Readonly<{
  labels: readonly Label[];
  marks: readonly Box[];
  frame: Box;
  dots: readonly Dot[];
}>;

function placeInOrder(order: readonly Label[], { labels, marks, frame, dots }: Surroundings) {
  const taken: Box[] = [...marks];
  const placed = new Map<Label, Box>();
  let cost = 0;
  for (const label of order) {
    const { cx, cy, text } = label;
    const others = labels.filter((one) => one !== label);
    const costOf = (box: Box) => {
      const own = distance(box, label);
      const misleads = others.some((other) => distance(box, other) <= own);
      const struck = dots.filter((dot) => distance(box, dot) === 0).length;
      return taken.reduce((sum, other) => sum + overlap(box, other), own) + (misleads ? 30 : 0) + 2 * struck;
    };
    const candidates = [10, 16, 24, 34]
      .flatMap((away) => placesAround(cx, cy, text.length * character, away))
      .map((box) => ({ box, cost: costOf(box) + (isInside(box, frame) ? 0 : 1_000) }));
    const [best] = candidates.toSorted((a, b) => a.cost - b.cost);
    if (!best) continue;
    taken.push(best.box);
    placed.set(label, best.box);
    cost += best.cost;
  }
  return { placed, cost };
}

type Dot = Pick<Label, "cx" | "cy">;

/** A dot each two units. */
function dotsOn({ x1, y1, x2, y2 }: Stroke): readonly Dot[] {
  const count = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 2);
  const along = (from: number, to: number, i: number) => from + ((to - from) * i) / Math.max(1, count);
  return Array.from({ length: count + 1 }, (_, i) => ({ cx: along(x1, x2, i), cy: along(y1, y2, i) }));
}

const isInside = (box: Box, frame: Box): boolean =>
  box.left >= frame.left &&
  box.right <= frame.right &&
  box.top >= frame.top - 4 &&
  box.bottom <= frame.bottom;

const distance = (box: Box, { cx, cy }: Dot): number =>
  Math.hypot(Math.max(box.left - cx, 0, cx - box.right), Math.max(box.top - cy, 0, cy - box.bottom));

/** To the right, left, above, below, and in the corners between. */
function placesAround(cx: number, cy: number, width: number, away: number): readonly Box[] {
  const at = (left: number, middle: number): Box => ({
    left,
    right: left + width,
    top: middle - height / 2,
    bottom: middle + height / 2,
  });
  const [right, left, centre] = [cx + away, cx - away - width, cx - width / 2];
  const [above, below] = [cy - away - 2, cy + away + 2];
  return [
    at(right, cy),
    at(left, cy),
    at(centre, above),
    at(centre, below),
    at(right, above),
    at(right, below),
    at(left, above),
    at(left, below),
  ];
}

const overlap = (a: Box, b: Box): number =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
