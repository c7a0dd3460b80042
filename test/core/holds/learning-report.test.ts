import { expect, it } from "vitest";
import type { Gap, Learned } from "../../../lambda/core/auto/learned.ts";
import { minutes } from "../../../lambda/core/duration.ts";
import { reportLearned } from "../../../lambda/core/holds/learning.ts";
import { CollectedMetrics } from "../../../simulator/collected-log.ts";
import { noon } from "../../../simulator/virtual-clock.ts";

const old: Gap = { nodes: 9, atLeast: minutes(9), atMost: minutes(9) };
const before: Learned = { gaps: [old], debt: 0, idle: { since: noon, nodes: 3, length: minutes(5) } };
const reported = (after: Learned | undefined, known: Learned | undefined = before) => {
  const metrics = new CollectedMetrics();
  reportLearned(metrics, known, after);
  return [metrics.all("IdleNodeMinutes"), metrics.all("RelaunchesSpared")];
};
const gapOf = (atLeast: number, atMost?: number): Learned => {
  const gap = {
    nodes: 3,
    atLeast: minutes(atLeast),
    ...(atMost !== undefined && { atMost: minutes(atMost) }),
  };
  return { gaps: [old, gap], debt: 0 };
};

it.each([
  ["within the hold was idle for all of it, and spared its nodes' relaunch", gapOf(2, 2), [[6], [3]]],
  ["that ended with the hold spared it, too", gapOf(5, 5), [[15], [3]]],
  ["longer than the hold was idle for as long as it was held", gapOf(8, 8), [[15], []]],
  ["known only within bounds counts with the longer one", gapOf(1, 4), [[12], [3]]],
  ["that was not seen to end spared nothing", gapOf(2), [[6], []]],
])("a gap %s", (_, learned, expected) => {
  expect(reported(learned)).toEqual(expected);
});

it.each<[string, Learned | undefined, Learned | undefined]>([
  ["there is none", undefined, before],
  ["it was reported before", before, before],
  ["it is not known how long its nodes were held", gapOf(2, 2), { gaps: [old], debt: 0 }],
  ["nothing was known", gapOf(2, 2), undefined],
])("reports no gap where %s", (_, learned, known) => {
  const metrics = new CollectedMetrics();
  reportLearned(metrics, known, learned);
  expect(metrics.values).toEqual([]);
});
