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
  image: "#9a6700",
  release: "#bc4c00",
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
  image: "#e3b341",
  release: "#f0883e",
};

export type Colour = keyof typeof light;

/** A colour of the present theme. */
export const colour = (name: Colour): string => `var(--knh-${name})`;

/** Colours for series, distinguishable with red-green colour blindness. */
export const seriesColours: readonly Colour[] = [
  "launch",
  "held",
  "release",
  "own",
  "image",
  "eviction",
  "ink",
  "free",
];

const declared = (theme: Readonly<Record<string, string>>) =>
  Object.entries(theme)
    .map(([name, value]) => `--knh-${name}:${value}`)
    .join(";");

/** Both themes and the font, for a picture or a page of pictures. */
export const themes = (selector: string): string =>
  `${selector}{${declared(light)};color:var(--knh-ink);` +
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px}" +
  `@media(prefers-color-scheme:dark){${selector}{${declared(dark)}}}`;
