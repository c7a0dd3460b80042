export type Box = Readonly<{ left: number; right: number; top: number; bottom: number }>;

/** A name that must be near its point. */
export type Label = Readonly<{ text: string; cx: number; cy: number }>;
export type PlacedLabel = Readonly<{ text: string; x: number; y: number }>;

const character = 5.8;
const height = 12;

/** Puts each name where it covers nothing, as near to its point as possible; what finds no place covers the least. */
export function placeLabels(
  labels: readonly Label[],
  marks: readonly Box[],
  frame: Box,
): readonly PlacedLabel[] {
  const taken: Box[] = [...marks];
  return labels.map(({ text, cx, cy }) => {
    const width = text.length * character;
    const candidates = [10, 16, 24, 34].flatMap((away) => placesAround(cx, cy, width, away));
    const inside = candidates.filter(
      (box) =>
        box.left >= frame.left &&
        box.right <= frame.right &&
        box.top >= frame.top - 4 &&
        box.bottom <= frame.bottom,
    );
    const covered = (box: Box) => taken.reduce((sum, other) => sum + overlap(box, other), 0);
    const free = inside.find((box) => covered(box) === 0);
    const [fallback] = (inside.length > 0 ? inside : candidates).toSorted((a, b) => covered(a) - covered(b));
    const box = free ?? fallback ?? { left: cx, right: cx + width, top: cy - height, bottom: cy };
    taken.push(box);
    return { text, x: box.left, y: box.bottom - 2 };
  });
}

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
