import { element, hint } from "../markup.ts";
import { type Colour, colour, picture, text } from "../page/picture.ts";
import { cut } from "../timeline/layout.ts";

/** How long a hold lasts after bursts of these sizes, and why. */
export type Bar = Readonly<{
  sizes: string;
  length: number;
  /** The length in words. */
  lasts: string;
  action: "default" | "learned" | "cautious";
  because: string;
}>;

const fills: Readonly<Record<Bar["action"], Colour>> = {
  learned: "held",
  default: "free",
  cautious: "image",
};

const width = 380;
const margin = 18;
/** Bars lie between the sizes and the room for the longest length in words. */
const plot = { left: 146, right: 306 };
const reasonRow = 14;
const charactersInRow = 58;

type LengthsOptions = Readonly<{
  title: string;
  /** Whose holds these are, if not the cluster's. */
  of?: string;
}>;

/** What `hold=auto` has learned: a bar for each range of burst sizes, with its reason below it. */
export function drawLengths(bars: readonly Bar[], { title, of }: LengthsOptions): string {
  const longest = Math.max(1, ...bars.map(({ length }) => length));
  let y = 70;
  const drawn = bars.map((bar) => {
    const { sizes, length, lasts, action, because } = bar;
    const size = Math.max(2, (length / longest) * (plot.right - plot.left));
    const rect = { x: plot.left, y: y - 11, width: size, height: 14, rx: 2, fill: colour(fills[action]) };
    const reasons = rowsOf(because).map((row, i) =>
      text(margin, y + 18 + i * reasonRow, row, { class: "faint", "font-size": 11 }),
    );
    const row = [
      hint(sentenceOf(bar)),
      text(margin, y, sizes),
      element("rect", rect),
      text(plot.left + size + 7, y, lasts, { "font-weight": 600 }),
      ...reasons,
    ];
    y += 30 + reasons.length * reasonRow;
    return element("g", { class: "length" }, ...row);
  });
  const description = [...(of ? [of] : []), ...bars.map(sentenceOf)].join("; ");
  return picture(
    { width, height: y - 12, title, description },
    text(margin, 28, title, { class: "title" }),
    text(margin, 45, of ? `${cut(of, 40)}, after a burst of` : "after a burst of", {
      class: "faint",
      "font-size": 11,
    }),
    ...drawn,
  );
}

const sentenceOf = ({ sizes, lasts, because }: Bar): string =>
  `after a burst of ${sizes} ${lasts}: ${because}`;

/** Words in as many rows as they need. */
function rowsOf(words: string): readonly string[] {
  const rows: string[] = [""];
  for (const word of words.split(" ")) {
    const row = rows.at(-1) ?? "";
    if (row.length + word.length >= charactersInRow) rows.push(word);
    else rows[rows.length - 1] = row === "" ? word : `${row} ${word}`;
  }
  return rows;
}
