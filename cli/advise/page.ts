import { formatDuration, minutes } from "../../lambda/core/duration.ts";
import { element, escaped } from "../../report/markup.ts";
import { themes } from "../../report/page/picture.ts";
import { table } from "../../report/page/tables.ts";
import { drawLines, type Plot } from "../../report/plots/plot.ts";
import { type Advice, type Candidate, type Question, scaleOf } from "./advice.ts";
import { deployment, describePeriod, describeSeen, ranking } from "./view.ts";

export type Page = Readonly<{
  question: Question;
  advice: readonly Advice[];
  assumptions: readonly string[];
}>;

const rules =
  ":root{color-scheme:light dark}body{margin:0;background:var(--knh-paper);font-size:15px;line-height:1.5}main{max-width:60rem;margin:auto;padding:1.5rem}" +
  "svg{max-width:100%;height:auto;display:block;margin:1rem 0}.because{font-weight:600}small,footer{color:var(--knh-faint)}" +
  "table{border-collapse:collapse}th,td{padding:.2rem .8rem;text-align:right;border-bottom:1px solid var(--knh-line)}" +
  "caption{text-align:left;color:var(--knh-faint)}h2{margin-top:2.5rem}" +
  "@media(max-width:600px){main{padding:.75rem}th,td{padding:.2rem .4rem;font-size:12px}p{overflow-wrap:anywhere}}";

/** One self-contained page: advice, plots, tables of the same values, and the model's assumptions. */
export function advicePage({ question, advice, assumptions }: Page): string {
  const title = `Which hold would have been right for ${question.cluster}?`;
  const head = element(
    "head",
    {},
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    element("title", {}, escaped(title)),
    element("style", {}, themes(":root") + rules),
  );
  const body = element(
    "main",
    {},
    element("h1", {}, escaped(title)),
    element("p", {}, escaped(describePeriod(question))),
    ...advice.map((one) => section(one, question)),
    element("h2", {}, "What the model assumes"),
    list(assumptions),
  );
  return `<!doctype html>\n${element("html", { lang: "en" }, head, element("body", {}, body))}\n`;
}

const list = (lines: readonly string[]): string =>
  element("ul", {}, ...lines.map((one) => element("li", {}, escaped(one))));

function section(advice: Advice, question: Question): string {
  const { of, candidates, because } = advice;
  const [columns = [], ...rows] = ranking(candidates);
  return element(
    "section",
    {},
    element("h2", {}, escaped(of === "cluster" ? "The whole cluster" : of.replace("nodepool/", "NodePool "))),
    element("p", { class: "because" }, escaped(because)),
    ...deployment(advice, question).map((line) => element("p", {}, escaped(line))),
    element("p", {}, escaped(`${describeSeen(advice, question)}.`)),
    drawLines(plotOf(advice, question)),
    table("Each hold, the best first", columns, rows),
  );
}

/** What each hold saves and costs. */
function plotOf({ candidates, recommended }: Advice, question: Question): Plot {
  const points = (read: (one: Candidate) => number) =>
    candidates.map((one) => [one.hold / minutes(1), read(one)] as const);
  return {
    title: `What each hold saves and costs ${scaleOf(question).per}`,
    x: { label: "hold", unit: "min" },
    y: { label: "node-hours" },
    series: [
      { name: "saved", points: points(({ idle, net }) => idle + net) },
      { name: "idle", points: points(({ idle }) => idle) },
    ],
    ...(recommended && {
      note: { x: recommended.hold / minutes(1), text: `recommended: ${formatDuration(recommended.hold)}` },
    }),
  };
}
