import { expect, it } from "vitest";
import { fromLog, pairsOf } from "../../cli/advise/happened.ts";
import type { History } from "../../cli/advise/history.ts";
import { readKarpenterLog } from "../../cli/advise/karpenter-log.ts";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import * as karpenter from "./karpenter-lines.ts";

const { at, churn, deleted, disrupted, disruptedBefore1_1, gaveUp, launched, nth } = karpenter;
const [a, b, c] = [nth(1), nth(2), nth(3)];
function read(...lines: readonly (string | readonly string[])[]): History {
  const history = readKarpenterLog(lines.flat().join("\n"));
  if (!history) throw new Error("no line was read");
  return history;
}

it("finds each launch, and each removal with its reason and its part of the pods", () => {
  const both = disrupted([a, b], 10, { pods: 3 });
  const { launches, removals, from, until } = read(launched(a, 0), launched(b, 1), both, deleted(a, 11));
  expect({ from, until }).toEqual({ from: at(0), until: at(11) });
  expect(launches.map(({ node, nodePool }) => [node, nodePool])).toEqual([
    [a, "default"],
    [b, "default"],
  ]);
  const common = { nodePool: "default", at: at(10), reason: "Underutilized", instanceType: "m5.2xlarge" };
  expect(removals).toEqual([
    { ...common, node: a, pods: 1.5, share: 1 },
    { ...common, node: b, pods: 1.5, share: 1 },
  ]);
});

it("ends with its last line, but when it is read where it is still written", () => {
  const until = (minute?: number) =>
    readKarpenterLog(churn(1).join("\n"), minute === undefined ? minute : at(minute))?.until;
  expect([until(), until(600), until(5)]).toEqual([at(6), at(600), at(6)]);
});

it("begins where the replica that leads does, whatever one writes that waits to lead", () => {
  const election = "leader lease karpenter/karpenter-leader-election";
  const waits = ["Starting metrics server", `attempting to acquire ${election}...`];
  const standby = waits.map((message) => karpenter.line(at(-9_000), message));
  expect(read(churn(1), standby).from).toEqual(at(0));
  expect(readKarpenterLog(standby.join("\n"), at(0))).toBeUndefined();
  const leads = karpenter.line(at(-60), "successfully acquired lease karpenter/karpenter-leader-election");
  const logged = karpenter.line(at(-30), "no instance types", { reconcileID: "0a1b" });
  expect(read(standby, churn(1), leads).from).toEqual(at(-60));
  expect(read(standby, churn(1), logged).from).toEqual(at(-30));
});

it("knows what a replacement saves from the sizes of both nodes, and nothing where a size is unknown", () => {
  const command = disrupted([a], 10, { replacements: 1 });
  const half = read(launched(a, 0, "8"), command, launched(b, 10, "4"));
  expect(half.removals[0]?.share).toBe(0.5);
  expect(half.launches.map(({ isReplacement }) => isReplacement)).toEqual([undefined, true]);
  expect(read(command, launched(b, 10)).removals[0]?.share).toBeUndefined();
  expect(read(launched(a, 0), command).removals[0]?.share).toBeUndefined();
});

it("takes a launch that comes later, or is one more, for one that pods asked for", () => {
  const replaced = [...launched(a, 0), disrupted([a], 10, { replacements: 1 })];
  const which = (...later: readonly (readonly string[])[]) =>
    read(replaced, ...later).launches.map(({ isReplacement }) => isReplacement ?? false);
  expect(which(launched(b, 10), launched(c, 10), launched(nth(4), 12))).toEqual([false, true, false, false]);
  expect(which(launched(b, 11))).toEqual([false, false]);
});

it("forgets a command that Karpenter gave up", () => {
  const { removals } = read(disrupted([a], 1), gaveUp([a], 2), disrupted([b], 3));
  expect(removals.map(({ node }) => node)).toEqual([b]);
});

it("counts a command that Karpenter repeats once", () => {
  const { removals } = read(disrupted([a], 1), disrupted([a], 3));
  expect(removals).toMatchObject([{ node: a, at: at(3) }]);
});

it("reads what version 1.0 writes into the message, by the names of nodes", () => {
  const { removals } = read(launched(a, 0), disruptedBefore1_1(`node-${a}`, 9));
  expect(removals).toMatchObject([{ node: a, reason: "Underutilized", pods: 2, share: 1 }]);
  expect(read(disruptedBefore1_1("node-x", 9, true)).removals[0]?.share).toBeUndefined();
});

it("takes off prefixes and a collector's record, passes over other lines, and brings lines of several pods into order", () => {
  const [first = "", second = ""] = launched(a, 0);
  const { launches } = read(
    "not of Karpenter",
    '{"half":',
    JSON.stringify({ log: `${second}\n`, stream: "stdout" }),
    `[pod/karpenter-0/controller] ${first}`,
  );
  expect(launches.map(({ node, nodePool }) => [node, nodePool])).toEqual([[a, "default"]]);
  expect(readKarpenterLog("nothing\n{}")).toBeUndefined();
});

it("counts nodes that ended without a command apart, because nobody chose them", () => {
  const ends = [disrupted([a], 5), deleted(a, 6), deleted(b, 9)];
  const account = fromLog(read(launched(a, 0), launched(b, 0), ends));
  expect(account).toMatchObject({ removed: 2, byReason: { Underutilized: 1, Other: 1 } });
  expect(account.lifetime).toBe(minutes(5) - seconds(2));
});

it("pairs a removed node with one launch in its NodePool soon after", () => {
  const end = (minute: number, nodePool = "default") => ({ nodePool, at: at(minute) });
  expect(pairsOf([end(5), end(20)], [end(10), end(40)])).toBe(1);
  expect(pairsOf([end(5), end(6)], [end(10)])).toBe(1);
  expect(pairsOf([end(5)], [end(10, "other")])).toBe(0);
  expect(pairsOf([end(5)], [end(4)])).toBe(0);
  expect(fromLog(read(churn(20))).neededAgain).toBe(19);
});
