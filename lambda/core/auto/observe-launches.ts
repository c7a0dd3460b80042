import { after, earlier, later } from "../duration.ts";
import type { ScopeRecord } from "../holds/hold.ts";
import type { Launch } from "../ports.ts";
import type { Rules } from "../rules.ts";
import { bootsUntil } from "./boot.ts";
import { type Observed, observe } from "./observe.ts";

/** Until when launches ask to be held. */
export type ObservedLaunches = Observed & Readonly<{ heldUntil: Date }>;

/** Learns from the launches that were not seen before, and chooses how long the latest of all is held. */
export function observeLaunches(
  record: ScopeRecord,
  rules: Rules,
  launches: Readonly<{ latest: Launch; news: readonly Launch[] }>,
  now: Date,
): ObservedLaunches {
  const { news, latest } = launches;
  const at = latest.launchedAt;
  const before = record.hold?.state === "held" ? record.hold.launches : 0;
  const from = news.map(({ launchedAt }) => launchedAt).reduce(earlier, at);
  const observed = observe(record, rules, { at, from, nodes: before + news.length, kind: "launch" });
  const heldUntil = after(at, observed.rules.hold);
  if (news.length === 0) return { ...observed, record, heldUntil };
  return { ...observed, heldUntil: later(heldUntil, bootsUntil(at, rules, now)) };
}
