import { element } from "../markup.ts";
import { type Colour, colour, picture, text } from "../page/picture.ts";
import { formatNumber } from "./plot.ts";

/** The same measure of each row; less is better. */
type Group = Readonly<{
  label: string;
  bars: readonly Readonly<{ name: string; value: number; colour: Colour }>[];
}>;

type Bars = Readonly<{ title: string; subtitle: readonly string[]; groups: readonly Group[] }>;

// Read at half its width on a phone, so nothing is small.
const [width, margin, names, size] = [760, 28, 250, 22];
const [row, gap, between] = [38, 8, 62];

/** Some measures as groups of horizontal bars with their values; the least of each is bold. */
export function drawBars({ title, subtitle, groups }: Bars): string {
  let y = 66 + subtitle.length * 30;
  const drawn = groups.flatMap(({ label, bars }) => {
    const least = Math.min(...bars.map(({ value }) => value));
    const most = Math.max(1, ...bars.map(({ value }) => value));
    const heading = text(margin, y + 28, label, { class: "faint", "font-size": size });
    const rows = bars.map(({ name, value, colour: fill }, at) => {
      const top = y + 44 + at * row;
      const length = Math.max(2, (value / most) * (width - names - margin - 90));
      const bold = value === least ? { "font-weight": 700 } : {};
      const middle = top + (row - gap) / 2 + size / 3;
      return (
        text(margin, middle, name, { "font-size": size, ...bold }) +
        element("rect", { x: names, y: top, width: length, height: row - gap, rx: 4, fill: colour(fill) }) +
        text(names + length + 10, middle, formatNumber(value), { "font-size": size, ...bold })
      );
    });
    y += between + bars.length * row;
    return [heading, ...rows];
  });
  const values = groups.map(({ label, bars }) => {
    const each = bars.map(({ name, value }) => `${name} ${formatNumber(value)}`);
    return `${label}: ${each.join(", ")}`;
  });
  return picture(
    {
      width,
      height: y + margin,
      title,
      description: values.join(". "),
      rules: ".knh .heading{font-weight:700}",
    },
    text(margin, 48, title, { class: "heading", "font-size": 28 }),
    ...subtitle.map((line, at) => text(margin, 82 + at * 30, line, { class: "faint", "font-size": size })),
    ...drawn,
  );
}
