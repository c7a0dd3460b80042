import { formatDuration } from "../../lambda/core/duration.ts";
import { counted } from "../../report/timeline/clock.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about, table } from "../terminal/text.ts";
import type { Advice } from "./advice.ts";
import type { Allowed } from "./allowed.ts";
import type { Present } from "./happened.ts";
import type { Account } from "./history.ts";
import type { Finding } from "./lint-nodes.ts";
import type { Question, Ranking } from "./rank.ts";
import type { Source } from "./sources.ts";
import { drawWeek, groupAlike, inWords, isPartly } from "./week.ts";

const wide = 80;

/** Text in lines that a terminal of 80 columns shows whole; words are not cut. */
export function wrapped(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= wide)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(indent + word);
  }
  return lines;
}

const heading = (text: string, { style }: Pick<Terminal, "style">): string => `\n${style("bold", text)}`;

export const printSources = (sources: readonly Source[], terminal: Terminal): readonly string[] => [
  terminal.style("bold", "What could be read"),
  ...table(sources.map(({ name, read }) => [`  ${name}`, read])),
];

const local = (moment: Date, timeZone: string): string =>
  new Intl.DateTimeFormat("en-GB", {
    timeZone,
    ...{ day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit" },
  }).format(moment);

const unknown = "unknown";
const count = (value: number | undefined): string => (value === undefined ? unknown : String(value));

/** A column for each source: what one does not have is unknown, and never 0. */
export function printHappened(
  accounts: readonly Account[],
  present: Present | undefined,
  timeZone: string,
  terminal: Terminal,
): readonly string[] {
  const lines = [heading("What Karpenter did", terminal)];
  const row = (name: string, of: (account: Account) => string) => [`  ${name}`, ...accounts.map(of)];
  const reason = (name: string) =>
    row(`  ${name.toLowerCase()}`, ({ byReason }) => (byReason ? String(byReason[name] ?? 0) : unknown));
  const now = present
    ? `${counted(present.nodes, "node")}${present.medianAge === undefined ? "" : `, median age ${about(present.medianAge)}`}, ${present.youngerThanHour} launched in the last hour`
    : unknown;
  lines.push(`  now: ${now}`);
  if (accounts.length === 0) return [...lines, "  before: unknown, because no source could be read"];
  return [
    ...lines,
    ...table([
      row("by", ({ source }) => source),
      row("since", ({ from }) => (from ? local(from, timeZone) : unknown)),
      row("nodes launched", ({ launched }) => count(launched)),
      row("nodes removed", ({ removed }) => count(removed)),
      ...["Empty", "Underutilized", "Drifted", "Other"].map(reason),
      row("pods evicted", ({ evicted }) => count(evicted)),
      row("  of Jobs, at least", ({ jobsKilled }) => count(jobsKilled)),
      row("life of removed ones", ({ lifetime }) => (lifetime === undefined ? unknown : about(lifetime))),
      row("needed again in 10m", ({ neededAgain }) => count(neededAgain)),
    ]),
  ];
}

export type PoolWeek = Readonly<{ name: string; about: string; allowed: readonly Allowed[] }>;

export function printAllowed(
  weeks: readonly PoolWeek[] | undefined,
  from: Date,
  timeZone: string,
  terminal: Terminal,
): readonly string[] {
  const title = heading(`What your NodePools allow, in ${timeZone} (█ allowed, ▒ in part, · not)`, terminal);
  if (!weeks) return [title, "  unknown: no NodePool could be read"];
  if (weeks.length === 0) return [title, "  there is no NodePool, so Karpenter launches no node"];
  return [
    title,
    ...weeks.flatMap(({ name, about: settings, allowed }) => [
      `  ${terminal.style("bold", name)}  ${settings}`,
      ...groupAlike(allowed).flatMap((group) => {
        const [first] = group;
        if (!first) return [];
        const words = wrapped(`${group.map(({ reason }) => reason).join(", ")}: ${inWords(first)}`, "  ");
        return [...words, ...(isPartly(first) ? drawWeek(first, from, timeZone) : [])];
      }),
    ]),
  ];
}

export function printFindings(
  findings: readonly Finding[],
  unread: readonly string[],
  terminal: Terminal,
): readonly string[] {
  const title = heading("What to change in NodePools and nodes", terminal);
  const rest =
    unread.length > 0 ? wrapped(`unknown, because they could not be read: ${unread.join(", ")}`, "  ") : [];
  if (findings.length === 0)
    return [title, `  nothing was found${rest.length > 0 ? " in what was read" : ""}`, ...rest];
  return [
    title,
    ...rest,
    ...findings.flatMap(({ rule, object, problem, change }) => [
      `  ${terminal.style("yellow", object)}  ${terminal.style("dim", rule)}`,
      ...wrapped(problem, "    "),
      ...change.split("\n").map((one) => `    ${terminal.style("green", one)}`),
    ]),
  ];
}

const signed = (value: number, digits: number): string =>
  `${value > 0 ? "+" : ""}${value.toFixed(digits)}`.replace(/^-(0(\.0+)?)$/, "$1");

export function printRanking(
  ranking: Ranking,
  advice: Advice,
  question: Question,
  terminal: Terminal,
): readonly string[] {
  const { candidates, because } = ranking;
  const title = heading("Which setting costs least", terminal);
  const verdict = [
    ...wrapped(advice.because, "  ").map((one) =>
      terminal.style(advice.verdict === "unknown" ? "yellow" : "green", one),
    ),
    ...advice.commands.map((one) => `    ${one}`),
  ];
  if (because) return [title, ...verdict];
  const open = candidates.find((one) => one.open > 0);
  const unranked = open
    ? wrapped(
        `* Not ranked: at the end it would still keep ${open.open === 1 ? "a node" : `${open.open} nodes`}, and the history does not show for how long.`,
        "  ",
      )
    : [];
  const isPriced = candidates.some(({ money }) => money !== undefined);
  const rows = candidates.map(({ name, nodeHours, launches, evictions, saves, money, open }) => [
    `  ${name}${open > 0 ? " *" : ""}`,
    open > 0 ? unknown : `${signed(nodeHours, 1)}h`,
    signed(-launches, 0),
    signed(-evictions, 0),
    open > 0 ? unknown : `${signed(saves, 1)}h`,
    ...(money === undefined ? [] : [open > 0 ? unknown : signed(money, 2)]),
  ]);
  const columns = [
    "  SETTING",
    "NODE TIME",
    "LAUNCHES",
    "EVICTIONS",
    "SAVES",
    ...(isPriced ? ["IN MONEY"] : []),
  ];
  return [
    title,
    ...table([columns, ...rows]),
    ...unranked,
    ...verdict,
    ...wrapped(limitsOf(question, ranking), "  ").map((one) => terminal.style("dim", one)),
  ];
}

/** The limits of the model, in a sentence. */
export const limitsOf = (
  { relaunchCost, evictionCost }: Question,
  { per, replayed, unchanged, unlearned }: Ranking,
): string =>
  `A replay of ${replayed} removals against what is there now, ${per === "a month" ? "as a month of 30 days" : per}, at ${formatDuration(relaunchCost)} of node time a launch and ${formatDuration(evictionCost)} an evicted pod: ` +
  `a node that stays takes the next launch in its NodePool whatever its size, no pod behaves differently, ` +
  `hold=auto ${unlearned === undefined ? "learns only from nodes that Karpenter removed" : `waits for each price without what it learns, because ${unlearned}`}, ` +
  `from Karpenter 1.14 on consolidateAfter keeps more nodes than shown, and ${unchanged} removals (drift, replacements of unknown size) stay as they were.`;
