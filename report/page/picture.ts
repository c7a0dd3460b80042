import { element, escaped, short } from "../markup.ts";

const light = {
  paper: "#ffffff",
  ink: "#1f2328",
  faint: "#59636e",
  line: "#e4e8ec",
  free: "#b6bfc9",
  held: "#2da44e",
  own: "#8250df",
  launch: "#0969da",
  eviction: "#cf222e",
  release: "#bc4c00",
  teal: "#1b7c83",
  pink: "#bf3989",
  navy: "#3b3b98",
} as const;

const dark: Readonly<Record<keyof typeof light, string>> = {
  paper: "#0d1117",
  ink: "#e6edf3",
  faint: "#9198a1",
  line: "#262c34",
  free: "#57616d",
  held: "#2ea043",
  own: "#a371f7",
  launch: "#58a6ff",
  eviction: "#ff7b72",
  release: "#f0883e",
  teal: "#39c5cf",
  pink: "#db61a2",
  navy: "#8f8fe8",
};

export type Colour = keyof typeof light;

/** A colour of the present theme. */
export const colour = (name: Colour): string => `var(--knh-${name})`;

const declared = (theme: Readonly<Record<string, string>>) =>
  Object.entries(theme)
    .map(([name, value]) => `--knh-${name}:${value}`)
    .join(";");

/** Both themes and the font, for a picture or a page of pictures. */
export const themes = (selector: string): string =>
  `${selector}{${declared(light)};color:var(--knh-ink);` +
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px}" +
  `@media(prefers-color-scheme:dark){${selector}{${declared(dark)}}}`;

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
