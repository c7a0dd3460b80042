import type { History, Launch, Removal } from "../../cli/advise/history.ts";
import { at } from "./karpenter-lines.ts";

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
