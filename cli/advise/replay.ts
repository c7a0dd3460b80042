import { after } from "../../lambda/core/duration.ts";
import { endOf, launchHoldAfter } from "../../lambda/core/launches.ts";
import type { LaunchHold } from "../../lambda/core/record.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { History, Launch, Removal } from "./history.ts";

/** The holder's own settings, where a policy is the holder. */
export type HolderRules = Pick<Rules, "hold" | "auto" | "maxHold" | "breather">;

/** Another way to decide when nodes go. */
export type Policy = Readonly<{
  /** Until when a removal waits; undefined: it never takes place. */
  waits: (removal: Removal, hold: LaunchHold | undefined) => Date | undefined;
  rules?: HolderRules;
}>;

/** A node that would have stayed beyond its real end. */
export type Kept = Readonly<{
  removal: Removal;
  from: Date;
  to: Date;
  /** The launch that it would have made needless: its pods find this node. */
  spared?: Launch;
  /** Its removal had not taken place when the history ended. */
  isOpen?: true;
}>;

type NodeEvent = Readonly<{ at: Date; launch: Launch }> | Readonly<{ at: Date; removal: Removal }>;

/**
 * Replays history with another policy. A node that is kept takes the next launch in its NodePool, one to one; drift,
 * replacements and everything that nobody chose happen as they did.
 */
export function replay({ launches, removals, until }: History, { waits, rules }: Policy): readonly Kept[] {
  const events: NodeEvent[] = [
    // At the same time the removal comes first, because it cannot be of that launch.
    ...removals.filter(isReplayed).map((removal) => ({ at: removal.at, removal })),
    ...launches.filter(({ isReplacement }) => !isReplacement).map((launch) => ({ at: launch.at, launch })),
  ];
  const kept: Kept[] = [];
  let waiting: Removal[] = [];
  let hold: LaunchHold | undefined;
  /** Launches in a breather do not count. */
  let countFrom = new Date(0);
  const settle = (now: Date) => {
    const due = (removal: Removal) => waits(removal, hold) ?? now;
    const isOver = (removal: Removal) => {
      const to = waits(removal, hold);
      return to !== undefined && to <= now;
    };
    for (const removal of waiting.filter(isOver)) kept.push({ removal, from: removal.at, to: due(removal) });
    waiting = waiting.filter((removal) => !isOver(removal));
    const end = hold && rules && endOf(hold, rules);
    if (!end || !rules || end.at > now) return;
    hold = undefined;
    if (end.isCapped) countFrom = after(end.at, rules.breather);
  };
  for (const [time, together] of Map.groupBy(
    events.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    ({ at }) => at.getTime(),
  )) {
    const now = new Date(time);
    settle(now);
    const launched: Launch[] = [];
    for (const event of together) {
      if ("removal" in event) {
        const to = waits(event.removal, hold);
        if (to === undefined || to > now) waiting.push(event.removal);
        continue;
      }
      const { launch } = event;
      const spares = waiting.find(({ nodePool }) => nodePool === launch.nodePool);
      waiting = waiting.filter((one) => one !== spares);
      if (spares) kept.push({ removal: spares, from: spares.at, to: now, spared: launch });
      else launched.push(launch);
    }
    if (!rules) continue;
    const holding = launched.map(({ node, at, nodePool }) => ({ instance: node, launchedAt: at, nodePool }));
    hold = launchHoldAfter({
      before: hold,
      launches: holding,
      countFrom,
      rules: { ...rules, initialDelay: 0 },
      now,
    });
  }
  settle(until);
  for (const removal of waiting) {
    const to = waits(removal, hold);
    kept.push({ removal, from: removal.at, to: to ?? until, ...(to === undefined && { isOpen: true }) });
  }
  return kept;
}

/** Those that another policy could have delayed, and whose worth is known. */
export const isReplayed = ({ reason, share }: Removal): boolean =>
  (reason === "Empty" || reason === "Underutilized") && share !== undefined;
