import * as v from "valibot";
import type { History, Launch, Removal } from "../../cli/advise/history.ts";
import { readKarpenterLog } from "../../cli/advise/karpenter-log.ts";
import { nodePoolSchema } from "../../cli/advise/objects.ts";
import type { Candidate, Question } from "../../cli/advise/rank.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { aNodePool } from "./advise-cluster.ts";
import { at, churn } from "./karpenter-lines.ts";

let count = 0;
export const launch = (minute: number, more: Partial<Launch> = {}): Launch => ({
  ...{ node: `n-${++count}`, nodePool: "default", at: at(minute) },
  ...more,
});
export const removal = (minute: number, more: Partial<Removal> = {}): Removal => ({
  ...{ node: `n-${++count}`, nodePool: "default", at: at(minute) },
  ...{ reason: "Underutilized", pods: 0, share: 1 },
  ...more,
});
type Lived = [launches: readonly Launch[], removals: readonly Removal[], end?: number];
export const history = (...[launches, removals, end = 24 * 60]: Lived): History => ({
  ...{ launches, removals, ended: [], from: at(0), until: at(end) },
});

export const aPool = (disruption: Readonly<Record<string, unknown>> = {}) =>
  v.parse(
    nodePoolSchema,
    aNodePool({ name: "default", disruption: { consolidateAfter: "30s", ...disruption } }),
  );
export const question = (more: Partial<Question> = {}): Question => ({
  ...{ relaunchCost: minutes(5), evictionCost: minutes(3), holds: [minutes(20)], nodePools: [aPool()] },
  ...more,
});
export const churned = (times = 20, more = {}) => {
  const read = readKarpenterLog(churn(times, more).join("\n"));
  if (!read) throw new Error("no line was read");
  return read;
};
export const named = (candidates: readonly Candidate[]) => new Map(candidates.map((one) => [one.name, one]));
