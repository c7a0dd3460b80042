import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseStatus } from "../../cli/answers.ts";
import { commandLine, commands } from "../../cli/command-line.ts";
import { describeSums, historyTable } from "../../cli/commands/history.ts";
import { statusView } from "../../cli/commands/status.ts";
import { historyPage } from "../../cli/views/history-page.ts";
import { describeLength } from "../../lambda/core/auto/staircase.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { readSettings } from "../../lambda/settings.ts";
import { version } from "../../lambda/version.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold } from "../support/builders.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { FakeControl } from "./fake-control.ts";

// A change is accepted with `npx vitest run test/cli/printed --update`, and read in the diff.
const styled = (style: unknown, text: string) => `<${style}>${text}</>`;

it("displays the help that was reviewed", async () => {
  const help = async (...words: string[]) => {
    const terminal = new CollectedTerminal();
    await commandLine([...words, "--help"], terminal);
    return terminal.output;
  };
  const names = commands.map((make) => make(new CollectedTerminal()).name());
  const texts = [await help()];
  for (const name of names) texts.push(await help(name));
  await expect(texts.join("\n\n")).toMatchFileSnapshot("printed/help.txt");
});

const length = {
  length: minutes(3),
  action: "learned",
  because: "83 % of the pauses were shorter",
} as const;
const lengths = [
  `after a burst of 1 to 2 nodes ${describeLength(length)}`,
  "after a burst of 3 or more nodes 0s: 92 % of the pauses were longer than 10m, so waiting costs more than it saves",
];
const after = (n: number) => new Date(noon.getTime() + minutes(n));
const none = { nodesHeld: 0, nodes: [], awaited: 0, capped: false } as const;
const held = {
  ...{
    scope: "cluster",
    state: "held",
    because: "launch of i-0abc",
    holdId: "h-1",
    since: after(-10),
    until: after(15),
  },
  ...{
    launches: 3,
    extensions: 2,
    capped: true,
    nodesHeld: 5,
    nodes: ["a", "b"],
    awaited: 1,
    nextSchedule: after(10),
  },
  lengths,
} as const;
const batch = {
  ...none,
  scope: "nodepool/batch",
  state: "paused",
  because: "by hand",
  since: after(-30),
} as const;
const web = {
  ...none,
  scope: "nodepool/web",
  state: "breather",
  because: "the cap",
  since: after(-5),
  until: after(5),
} as const;
const idle = { ...none, scope: "nodepool/idle", state: "none", because: "nothing is held" } as const;
const releasing = {
  ...held,
  scope: "nodepool/old",
  state: "releasing",
  nodes: ["c"],
  nodesHeld: 1,
  capped: false,
} as const;

const base = { cluster: "prod", at: noon, version: "1.0.0", nodesUserHeld: 2, limits: [] };
const others = { hold: "auto", maxHold: "0s", initialDelay: "30s", scope: "nodepool", nodePools: "a,!b" };
const statuses = [
  { ...base, rules: readSettings({ cluster: "prod" }), scopes: [held], lastSweep: after(-2) },
  {
    ...{
      ...base,
      rules: readSettings({ cluster: "prod", ...others }),
      scopes: [batch, web, idle, releasing],
    },
    ...{ nodesOrphaned: 3, limits: ["no events"] },
  },
  { ...base, rules: readSettings({ cluster: "prod" }), scopes: [] },
  { ...base, rules: readSettings({ cluster: "prod" }), scopes: [], nodesOrphaned: 1 },
];
const shown = (status: object, style: typeof styled, wide: boolean) =>
  statusView(parseStatus(JSON.parse(JSON.stringify(status))), style, wide);

it("shows the status that was reviewed", async () => {
  const lines = statuses.flatMap((one) => [false, true].flatMap((wide) => [...shown(one, styled, wide), ""]));
  await expect(lines.join("\n")).toMatchFileSnapshot("printed/status.txt");
});

it("shows the history that was reviewed", async () => {
  const past = [
    aPastHold({
      ...{ length, capped: true, causes: { launches: { a: 2 }, uses: 1, hand: "a test" } },
      ...{ idleTime: minutes(72), spared: 4, letGo: 2 },
    }),
    aPastHold({ id: "h-0", scope: "nodepool/a", startedAt: after(-3_000), endedAt: after(-2_900) }),
  ];
  const texts = [false, true].flatMap((wide) => historyTable(past, after(60), styled, wide));
  const sumsOf = (days: number, terms = {}) => describeSums(past, terms, days * minutes(24 * 60));
  const price = 0.5;
  const sums = [sumsOf(9), sumsOf(2, { price }), sumsOf(14, { price, relaunchCost: minutes(20) })];
  const about = { holder: "prod", sums: sumsOf(9), none: "No hold.", now: after(60) };
  const pages = [past, past.slice(0, 1), []].map((holds) => historyPage(holds, about));
  const words = pages.map((page) =>
    page.replaceAll(version, "VERSION").replaceAll(/<(style|svg|script)\b.*?<\/\1>|sha256-[^&]+/gs, "\n"),
  );
  await expect([...texts, ...sums, ...words].join("\n")).toMatchFileSnapshot("printed/history.txt");
});

it("reports actions as was reviewed", async () => {
  const until = "2026-11-21T12:45:00.000Z";
  const released = { released: 2, kept: 0, failed: 0, left: false, because: "by hand" };
  const answers: readonly (readonly [line: string, answer: object])[] = [
    [
      "hold --reason x --for 45m --scope nodepool/a",
      { holdId: "h", until, marked: 7, userHeld: 1, because: "held by hand: x" },
    ],
    ["hold --reason x", { holdId: "h", until, marked: 0, userHeld: 0, because: "held by hand: x" }],
    ["release --force --reason done --scope nodepool/a", { ...released, kept: 1, left: true }],
    ["release --force", { ...released, because: "nothing is held" }],
    ["release --force", { ...released, failed: 3 }],
    ["pause", { ...released, released: 0 }],
    ["pause", { ...released, failed: 3 }],
    ["pause --for 2h -o json", { ...released, until }],
    ["pause --for 2h", { ...released, until }],
    ["resume", { resumed: ["cluster", "nodepool/a"], because: "the pause is over" }],
    ["resume", { resumed: [], because: "nothing is paused" }],
    ["history", { holds: [] }],
  ];
  const printed: string[] = [];
  for (const [line, answer] of answers) {
    const prod = await FakeControl.start(() => answer);
    const { exit, output, reported } = await prod.run(...line.split(" "), "--cluster", "prod");
    await prod.stop();
    printed.push(`$ ${line}`, ...prod.asked.map((asked) => `> ${JSON.stringify(asked)}`));
    printed.push(...[output, reported].filter(Boolean), `(${exit})`, "");
  }
  const timeless = printed
    .join("\n")
    .replaceAll(/ \([^()]* ago\)/g, "")
    .replaceAll(/http:\S+/g, "URL");
  await expect(timeless).toMatchFileSnapshot("printed/actions.txt");
});

it("prints what the README shows", () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
  const advice = read("printed/advice.txt").split("\n");
  const status = shown({ ...statuses[0], scopes: [{ ...held, lengths: [] }] }, (_, text) => text, false);
  const lines = new Set([...advice, ...status].map((line) => line.trimEnd()));
  const blocks = [...read("../../README.md").matchAll(/```text\n\$ [^\n]*\n(.*?)```/gs)];
  expect(blocks.length).toBeGreaterThanOrEqual(2);
  const inReadme = blocks.flatMap(([, text = ""]) => text.split("\n"));
  expect(inReadme.filter((line) => line !== "…" && !lines.has(line))).toEqual([]);
});
