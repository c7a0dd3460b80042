import { element, escaped, short } from "../markup.ts";
import { colour, themes } from "./style.ts";

export type PictureOptions = Readonly<{
  width: number;
  height: number;
  title: string;
  /** The text for screen readers. */
  description: string;
  /** Rules that only this picture needs. */
  rules?: string;
}>;

const base =
  ".knh text{fill:currentColor}.knh .faint{fill:var(--knh-faint)}.knh .title{font-size:17px;font-weight:600}" +
  ".knh .grid{stroke:var(--knh-line);stroke-width:1}";

/** A whole SVG file, which a page can contain too: with its own background, in the reader's theme. */
export function picture(options: PictureOptions, ...children: readonly string[]): string {
  const { width, height, title, description, rules = "" } = options;
  const svg = {
    xmlns: "http://www.w3.org/2000/svg",
    class: "knh",
    role: "img",
    "aria-label": `${title}. ${description}`,
    viewBox: `0 0 ${short(width)} ${short(height)}`,
    width,
    height,
  };
  const paper = { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 10 };
  return element(
    "svg",
    svg,
    element("title", {}, escaped(title)),
    element("desc", {}, escaped(description)),
    element("style", {}, themes(".knh") + base + rules),
    element("rect", { ...paper, fill: colour("paper"), stroke: colour("line") }),
    ...children,
  );
}

/** A line of text. */
export const text = (
  x: number,
  y: number,
  content: string,
  attributes: Readonly<Record<string, string | number | undefined>> = {},
): string => element("text", { x, y, ...attributes }, escaped(content));
