/** The one of these names that was probably meant: written another way, cut, longer, or with at most two typing mistakes. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, mistakes: mistakesBetween(plain(given), plain(name)) }))
    // Two mistakes in a word of four letters make any other word.
    .filter(({ name, mistakes }) => mistakes <= (name.length <= 4 ? 1 : 2))
    .toSorted((a, b) => a.mistakes - b.mistakes);
  return near[0]?.name ?? names.find((name) => beginsLike(plain(name), plain(given)));
}

/** Whether one is the beginning of the other; a short word begins many. */
const beginsLike = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) >= 6 && (a.startsWith(b) || b.startsWith(a));

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, "");

/** Letters that are missing, added or wrong, and neighbours that changed places. */
function mistakesBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : 9;
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
}
