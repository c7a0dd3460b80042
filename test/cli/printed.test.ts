import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseStatus } from "../../cli/answers.ts";
import { historyPage } from "../../cli/views/history-page.ts";
import { describeObservation, describeSums, historyTable } from "../../cli/views/history-table.ts";
import { statusView } from "../../cli/views/status-view.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { readSettings } from "../../lambda/settings.ts";
import { version } from "../../lambda/version.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold, aScopeStatus } from "../support/builders.ts";

// A change is accepted with `npx vitest run test/cli/printed --update`, and read in the diff.
const styled = (style: unknown, text: string) => `<${style}>${text}</>`;

const after = (n: number) => new Date(noon.getTime() + minutes(n));
const held = aScopeStatus({
  ...{ state: "held", because: "3 launches in NodePool batch", holdId: "h-1" },
  ...{ since: after(-105), until: after(15), launchesUntil: after(15), nextLook: after(15) },
  ...{ launches: 3, extensions: 2, capped: true, nodesHeld: 5, nodes: ["a", "b"] },
});
/** The last of the launches was five minutes ago, and holds for two hours. */
const heldByAuto = {
  ...{ ...held, capped: false, since: after(-10) },
  ...{ until: after(115), launchesUntil: after(115), nextLook: after(1) },
} as const;
const requested = {
  ...{ ...heldByAuto, drifted: 0, isAwaiting: true },
  because: "3 launches in NodePool batch; load test; office hours",
  requests: [
    { name: "load-test", cause: "person", reason: "load test", since: after(-5), until: after(60) },
    { name: "office", cause: "window", reason: "office hours", since: after(-10), until: after(30) },
  ],
} as const;
const batch = aScopeStatus({
  ...{ scope: "nodepool/batch", state: "paused", because: "paused by hand: upgrade", since: after(-30) },
  ...{ until: after(45), requests: requested.requests },
});
const web = aScopeStatus({
  ...{ scope: "nodepool/web", state: "breather", since: after(-5), until: after(5) },
  because: "launches have held for as long as maxHold allows",
});
const idle = aScopeStatus({ scope: "nodepool/idle" });
const { until: _, launchesUntil: __, ...over } = held;
const releasing = {
  ...{ ...over, scope: "nodepool/old", state: "releasing", because: "the hold expired" },
  ...{ capped: false, nodes: ["c"], nodesHeld: 1 },
} as const;
const drifting = { ...held, scope: "nodepool/ci", capped: false, drifted: 2 } as const;
const observed = {
  ...heldByAuto,
  ...{ nodesHeld: 0, nodes: [], nodesObserved: 5, drifted: 1, isAwaiting: true },
  observed: { removed: 3, evicted: 12, uncounted: 0, nodeTime: minutes(40), relaunched: 2 },
} as const;

const base = { cluster: "prod", at: noon, version, nodesUserHeld: 2, limits: [] };
const others = { hold: "20m", maxHold: "0s", initialDelay: "30s", scope: "nodepool", nodePools: "a,!b" };
const constant = readSettings({ cluster: "prod", hold: "20m" });
const rules = readSettings({ cluster: "prod" });
const worth = "its removal is worth 14m: 5m and 3 pods";
const paying = {
  ...heldByAuto,
  paid: { superfluous: minutes(35), letGo: 1, spared: 2, evictionsSpared: 5 },
  goes: [
    { name: "a", isLetGo: true, because: `superfluous for 14m; ${worth}` },
    { name: "b", isLetGo: false, dueAt: after(9), because: `superfluous for 5m; ${worth}` },
    { name: "c", isLetGo: false, because: "superfluous for 5m; it runs the pod ci/build of a Job" },
  ],
};
const statuses = [
  { ...base, rules: constant, scopes: [held], lastSweep: after(-2) },
  { ...base, rules, scopes: [requested], lastSweep: after(-2) },
  {
    ...{ ...base, rules: readSettings({ cluster: "prod", ...others }) },
    ...{ scopes: [batch, web, idle, releasing, drifting], nodesOrphaned: 3, limits: ["no NodeClaims"] },
  },
  { ...base, rules: readSettings({ cluster: "prod", mode: "observe" }), scopes: [observed] },
  { ...base, rules, scopes: [] },
  { ...base, rules, scopes: [], nodesOrphaned: 1 },
  { ...base, rules, scopes: [paying], lastSweep: after(-2) },
];
const toHold =
  "deploy with mode=hold and your other settings, like npx cdk deploy -c cluster=prod -c mode=hold -c alarms=none, or with -c alarmTopicArn=ARN in place of alarms=none";
const shown = (status: object, style: typeof styled, wide: boolean) =>
  statusView(parseStatus(JSON.parse(JSON.stringify(status))), { style, wide, toHold });

it("shows the status that was reviewed", async () => {
  const lines = statuses.flatMap((one) => {
    const usual = shown(one, styled, false);
    // The others show every field with -o wide, too.
    const isWide = one.rules.scope === "nodepool";
    const wide = isWide ? shown(one, styled, true).filter((line) => !usual.includes(line)) : [];
    return [...usual, ...(wide.length > 0 ? ["with -o wide:", ...wide] : []), ""];
  });
  const text = lines.join("\n").replaceAll(`version ${version}`, "version VERSION");
  await expect(text).toMatchFileSnapshot("printed/status.txt");
});

it("shows the history that was reviewed", async () => {
  const past = [
    aPastHold({
      ...{ capped: true, launches: { a: 2, b: 1 }, requests: ["a test"], extensions: 2 },
      ...{ superfluous: minutes(95), letGo: 2, spared: 1, evictionsSpared: 4 },
    }),
    aPastHold({
      ...{ id: "h-0", scope: "nodepool/a", startedAt: after(-3_000), endedAt: after(-2_900) },
      observed: { removed: 2, evicted: 9, uncounted: 1, nodeTime: minutes(90), relaunched: 1 },
    }),
  ];
  const texts = [false, true].flatMap((wide) => historyTable(past, after(60), styled, wide));
  const observation = describeObservation(past);
  const sums = [describeSums(past), ...observation].join(". ");
  const about = { holder: "prod", sums, none: "No hold.", now: after(60) };
  const pages = [past, past.slice(0, 1), []].map((holds) => historyPage(holds, about));
  const words = pages.map((page) =>
    page.replaceAll(version, "VERSION").replaceAll(/<(style|svg|script)\b.*?<\/\1>|sha256-[^&]+/gs, "\n"),
  );
  await expect([...texts, sums, ...words].join("\n")).toMatchFileSnapshot("printed/history.txt");
});

it("prints what the README shows", () => {
  const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");
  const advice = read("printed/advice.txt").split("\n");
  const status = shown(statuses[1] ?? {}, (_, text) => text, false);
  const lines = new Set([...advice, ...status].map((line) => line.trimEnd()));
  const blocks = [...read("../../README.md").matchAll(/```text\n\$ [^\n]*\n(.*?)```/gs)];
  expect(blocks.length).toBeGreaterThanOrEqual(1);
  const inReadme = blocks.flatMap(([, text = ""]) => text.split("\n"));
  expect(inReadme.filter((line) => line !== "…" && !lines.has(line))).toEqual([]);
});
