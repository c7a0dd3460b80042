import { expect, it } from "vitest";
import type { StatusAnswer } from "../../cli/answers.ts";
import { historyTable } from "../../cli/views/history-table.ts";
import { statusView } from "../../cli/views/status-view.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { ScopeStatus } from "../../lambda/core/operate/status.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { readSettings } from "../../lambda/settings.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const plain = (_: unknown, text: string) => text;
const soon = (n: number) => after(noon, minutes(n));

const scope: Required<ScopeStatus> = {
  ...{ scope: wholeCluster, state: "held", because: "x", holdId: "h", since: soon(-9), until: soon(60) },
  ...{ launchesUntil: soon(20), launches: 3, extensions: 2, capped: true },
  requests: [{ name: "r", cause: "person", reason: "test", since: soon(-5), until: soon(60) }],
  goes: [{ name: "a", isLetGo: false, dueAt: soon(9), because: "superfluous for 1m" }],
  paid: { superfluous: minutes(7), letGo: 2, spared: 3, evictionsSpared: 4 },
  ...{ nodesHeld: 5, nodes: ["a"], nodesObserved: 4, drifted: 2, isAwaiting: true, nextLook: soon(20) },
  observed: { removed: 3, evicted: 5, uncounted: 1, nodeTime: minutes(40), relaunched: 2 },
};
const status: Required<StatusAnswer> = {
  ...{ cluster: "prod", at: noon, version: "1" },
  rules: readSettings({ cluster: "prod", hold: "20m", nodePools: "a,!b" }),
  ...{ scopes: [scope], nodesUserHeld: 1, nodesOrphaned: 1, lastSweep: soon(-3), limits: ["l"] },
};
const past: Required<PastHold> = {
  ...{ scope: wholeCluster, id: "h", startedAt: soon(-30), startedBecause: "launch", launches: { a: 2 } },
  ...{ extensions: 2, nodes: 3, capped: true, requests: ["test"] },
  ...{ superfluous: minutes(7), letGo: 2, spared: 3, evictionsSpared: 4 },
  ...{ endedAt: soon(-10), endedBecause: "over", observed: scope.observed },
};

/** The value with another one in one place, for each place, and the path of that place. */
function* changed(value: unknown, path = ""): Generator<readonly [path: string, unknown]> {
  if (value instanceof Date) yield [path, after(value, minutes(1))];
  else if (typeof value === "number") yield [path, value + minutes(1)];
  else if (typeof value === "string") yield [path, `${value}.`];
  else if (typeof value === "boolean") yield [path, !value];
  else {
    const whole = Object(value);
    for (const [key, one] of Object.entries(whole))
      for (const [where, other] of changed(one, `${path}.${key}`))
        yield [where, Array.isArray(whole) ? whole.with(Number(key), other) : { ...whole, [key]: other }];
  }
}

const statusText = (one: unknown) =>
  statusView(one as StatusAnswer, { style: plain, wide: true, toHold: "deploy" }).join("\n");
const historyText = (one: unknown) => historyTable([one as PastHold], noon, plain, true).join("\n");

const withoutEffect: Readonly<Record<string, readonly string[]>> = {
  history: [".startedBecause"],
  status: [".rules.relaunchCost", ".rules.evictionCost"],
  "status with hold=auto": [".rules.hold"],
};

it.each([
  ["status", status, statusText],
  ["status with hold=auto", { ...status, rules: readSettings({ cluster: "prod" }) }, statusText],
  ["history", past, historyText],
  // Why it started is shown where it is not known what was part of it.
  ["history of a hold without figures", { ...past, launches: {}, requests: [] }, historyText],
] as const)("%s shows every field of the answer with -o wide", (name, answer, textOf) => {
  const text = textOf(answer);
  const unseen = [...changed(answer)].filter(([, other]) => textOf(other) === text).map(([path]) => path);
  expect(unseen).toEqual(withoutEffect[name] ?? []);
});
