import { createHash } from "node:crypto";
import { element, escaped } from "../markup.ts";
import { pageScript } from "./page-script.ts";
import { themes } from "./picture.ts";

/** How much of the past a live page can show, in minutes; 0 is everything. */
export const spans = [
  { minutes: 5, label: "the last 5 minutes" },
  { minutes: 15, label: "the last 15 minutes" },
  { minutes: 60, label: "the last hour" },
  { minutes: 0, label: "everything" },
] as const;

export type Page = Readonly<{
  title: string;
  /** What the page is about, in a sentence or two. */
  about: string;
  /** The present state, in a sentence. */
  state: string;
  /** The picture for a width, as SVG; none where there is nothing to draw. */
  picture?: ((width: number) => string) | undefined;
  /** What is held now, as HTML; on a live page only. */
  held?: string;
  /** The same in words, as HTML tables. */
  tables: string;
  footer: string;
  /** Where a live page gets its events; a page of the past has none. */
  live?: string;
}>;

/** A reader's window shows the picture that was drawn for its width. */
const widths = { wide: 900, narrow: 380 };

const styles = `${themes("body")}
:root{color-scheme:light dark;overflow-y:scroll}
body{margin:0;background:var(--knh-paper);line-height:1.5}
main,header,footer{max-width:1240px;margin:0 auto;padding:0 20px}
header{padding-top:28px}
h1{font-size:24px;margin:0 0 4px}
header p{margin:0 0 12px;font-size:14px;color:var(--knh-faint);max-width:80ch}
#state{color:var(--knh-ink);font-weight:600;min-height:1.5em}
.controls{display:flex;gap:12px;flex-wrap:wrap;align-items:center;margin:0 0 14px;font-size:14px}
button,select{font:inherit;color:inherit;background:transparent;border:1px solid var(--knh-free);border-radius:6px;padding:4px 12px;min-height:32px}
option{background:var(--knh-paper)}
:focus-visible{outline:3px solid var(--knh-launch);outline-offset:2px}
figure{margin:0;border-radius:10px}
figure svg{display:block;width:100%;height:auto;margin-bottom:16px}
.narrow{display:none;max-width:560px}
@media(max-width:720px){.wide{display:none}.narrow{display:block}}
figure .chosen{outline:2px solid var(--knh-launch);outline-offset:2px}
#chosen{min-height:1.6em;margin:8px 0;font-size:14px}
.hint{font-size:13px;color:var(--knh-faint);margin:0}
details{margin:16px 0;font-size:14px}
summary{cursor:pointer;padding:4px 0}
#held,#tables{overflow-x:auto}
#held p{margin:0 0 12px;font-size:14px}
table{border-collapse:collapse;margin:12px 0 24px;font-size:13px}
caption{text-align:left;font-weight:600;padding:6px 0}
th,td{text-align:left;padding:4px 14px 4px 0;border-bottom:1px solid var(--knh-line);vertical-align:top}
@media(max-width:600px){main,header,footer{padding:0 12px}table,tbody,caption,tr,td{display:block}
thead{display:none}tr{padding:6px 0;border-bottom:1px solid var(--knh-line)}
td{border:0;padding:1px 0;overflow-wrap:anywhere}td:first-child{font-weight:600}td:empty{display:none}
td+td::before{content:attr(data-column) ": ";color:var(--knh-faint)}}
footer{font-size:13px;color:var(--knh-faint);padding-bottom:28px}
body[data-connection=lost] #state{color:var(--knh-eviction)}
`;

const sha = (content: string) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;

/** Only the page's own script may run, and it may call only its own server; its icon is an empty one. */
const policy =
  `default-src 'none'; script-src ${sha(pageScript)}; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'";

/** One self-contained HTML file. */
export function drawPage(page: Page): string {
  const { title, about, state, live, footer } = page;
  const head = element(
    "head",
    {},
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">`,
    '<link rel="icon" href="data:,">',
    element("title", {}, escaped(title)),
    `<style>${styles}</style>`,
  );
  const header = element(
    "header",
    {},
    element("h1", {}, escaped(title)),
    element("p", {}, escaped(about)),
    element("p", { id: "state", role: "status" }, escaped(state)),
  );
  const body = element(
    "body",
    { "data-live": live },
    header,
    drawMain(page),
    element("footer", {}, escaped(footer)),
    `<script>${pageScript}</script>`,
  );
  return `<!doctype html>\n<html lang="en">${head}${body}</html>\n`;
}

function drawMain({ picture, tables, held, live }: Page): string {
  const pictures = Object.entries(widths).map(([name, width]) =>
    element("div", { class: name }, picture?.(width) ?? ""),
  );
  const figure = {
    id: "picture",
    tabindex: 0,
    role: "group",
    "aria-label": "Timeline. Arrow keys step through what it shows.",
    "aria-describedby": "chosen",
  };
  return element(
    "main",
    {},
    held === undefined ? "" : element("div", { id: "held" }, held),
    live === undefined ? "" : drawControls(),
    element("figure", figure, ...pictures),
    element("p", { id: "chosen", "aria-live": "polite" }, ""),
    element(
      "p",
      { class: "hint" },
      "Point at anything for its details, or focus the picture and press the arrow keys; Escape leaves it.",
    ),
    element(
      "details",
      { id: "words" },
      element("summary", {}, "The same in words"),
      element("div", { id: "tables" }, tables),
    ),
  );
}

function drawControls(): string {
  const options = spans.map(({ minutes, label }) => element("option", { value: minutes }, label));
  return element(
    "div",
    { class: "controls" },
    element("button", { id: "freeze", type: "button" }, "Freeze picture"),
    element("label", { for: "span" }, "Show"),
    element("select", { id: "span" }, ...options),
  );
}
