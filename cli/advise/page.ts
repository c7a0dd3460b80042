import { formatDuration, minutes } from "../../lambda/core/duration.ts";
import { element, escaped } from "../../report/markup.ts";
import { themes } from "../../report/page/picture.ts";
import { drawLines, type Plot, plotTable } from "../../report/plots/plot.ts";
import { type Advice, type Candidate, verdict } from "./advice.ts";

export type Page = Readonly<{
  cluster: string;
  from: Date;
  to: Date;
  advice: readonly Advice[];
  assumptions: readonly string[];
}>;

const rules =
  ":root{color-scheme:light dark}body{margin:0;background:var(--knh-paper);font-size:15px;line-height:1.5}main{max-width:60rem;margin:auto;padding:1.5rem}" +
  "svg{max-width:100%;height:auto;display:block;margin:1rem 0}.because{font-weight:600}small,footer{color:var(--knh-faint)}" +
  "table{border-collapse:collapse}th,td{padding:.2rem .8rem;text-align:right;border-bottom:1px solid var(--knh-line)}" +
  "caption{text-align:left;color:var(--knh-faint)}h2{margin-top:2.5rem}";

/** One self-contained page: advice, plots, tables of the same values, and the model's assumptions. */
export function advicePage({ cluster, from, to, advice, assumptions }: Page): string {
  const title = `Which hold would have been right for ${cluster}?`;
  const day = (date: Date) => date.toISOString().slice(0, 16).replace("T", " ");
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
    element("p", {}, escaped(`From ${day(from)} to ${day(to)} UTC, from CloudTrail.`)),
    ...advice.map(section),
    element("h2", {}, "What the model assumes"),
    element("ul", {}, ...assumptions.map((one) => element("li", {}, escaped(one)))),
  );
  return `<!doctype html>\n${element("html", { lang: "en" }, head, element("body", {}, body))}\n`;
}

function section(advice: Advice): string {
  const { of, launches, terminations, regretted } = advice;
  const seen = `${launches} nodes launched, ${terminations} removed by Karpenter, ${regretted} of those regretted.`;
  const plots = regretted > 0 ? [avoidedPlot(advice), costPlot(advice), ...moneyPlots(advice)] : [];
  return element(
    "section",
    {},
    element("h2", {}, escaped(of === "cluster" ? "The whole cluster" : of.replace("nodepool/", "NodePool "))),
    element("p", { class: "because" }, escaped(verdict(advice))),
    element("p", {}, escaped(seen)),
    ...plots.flatMap((plot) => [
      drawLines(plot),
      element("details", {}, element("summary", {}, "The same as a table"), plotTable(plot)),
    ]),
  );
}

const noteOf = ({ recommended }: Advice) =>
  recommended
    ? { note: { x: recommended.hold / minutes(1), text: `recommended: ${formatDuration(recommended.hold)}` } }
    : {};

const x = { label: "hold", unit: "min" } as const;

/** The value of each hold, and a level line for `hold=auto`. */
function seriesOf({ candidates, auto }: Advice, name: string, read: (one: Candidate) => number) {
  const points = candidates.map((one) => [one.hold / minutes(1), read(one)] as const);
  const ends = [...points.slice(0, 1), ...points.slice(-1)];
  return [
    { name, points },
    { name: "hold=auto", points: ends.map(([at]) => [at, read(auto)] as const) },
  ];
}

const avoidedPlot = (advice: Advice): Plot => ({
  title: "Regretted ends avoided",
  x,
  y: { label: "ends avoided" },
  series: seriesOf(advice, "avoided", ({ avoided }) => avoided),
  ...noteOf(advice),
});

/** Only where the cost of each hold is known: the others alone would look cheap. */
function moneyPlots(advice: Advice): readonly Plot[] {
  if ([...advice.candidates, advice.auto].some(({ money }) => money === undefined)) return [];
  const y = { label: "in the currency of your prices" };
  const series = seriesOf(advice, "cost", ({ money = 0 }) => money);
  return [{ title: "The same in money", x, y, series, ...noteOf(advice) }];
}

const costPlot = (advice: Advice): Plot => ({
  title: "What it would have cost",
  x,
  y: { label: "idle node-hours" },
  series: seriesOf(advice, "idle", ({ idleMinutes }) => idleMinutes / 60),
  ...noteOf(advice),
});
