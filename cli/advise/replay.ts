import { after } from "../../lambda/core/duration.ts";
import { endOf, launchHoldAfter } from "../../lambda/core/launches.ts";
import type { LaunchHold } from "../../lambda/core/record.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { History, Launch, Removal } from "./history.ts";
import { type AutoLooks, lookEvery } from "./replay-auto.ts";

/** The holder's own settings, where a policy is the holder. */
export type HolderRules = Pick<Rules, "hold" | "auto" | "maxHold" | "breather">;

/** Another way to decide when nodes go. */
export type Policy = Readonly<{
  /** Until when a removal waits; undefined: it never takes place. */
  waits: (removal: Removal, hold: LaunchHold | undefined, letGo?: Date) => Date | undefined;
  rules?: HolderRules;
  /** With `hold=auto`: what lets single nodes go, and since when a node was idle. */
  auto?: Readonly<{ looks: () => AutoLooks; idleSince: (removal: Removal) => Date }>;
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

type NodeEvent =
  | Readonly<{ at: Date; launch: Launch }>
  | Readonly<{ at: Date; removal: Removal }>
  | Readonly<{ at: Date; idle: Removal }>;

/**
 * Replays history with another policy. A node that is kept takes the next launch in its NodePool, one to one; drift,
 * replacements and everything that nobody chose happen as they did.
 */
export function replay({ launches, removals, until }: History, policy: Policy): readonly Kept[] {
  const { auto } = policy;
  const events: NodeEvent[] = [
    ...(auto ? removals.filter(canBeIdle).map((idle) => ({ at: auto.idleSince(idle), idle })) : []),
    // At the same time the removal comes first, because it cannot be of that launch.
    ...removals.filter(isReplayed).map((removal) => ({ at: removal.at, removal })),
    ...launches.filter(({ isReplacement }) => !isReplacement).map((launch) => ({ at: launch.at, launch })),
  ];
  const all = Map.groupBy(
    events.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    ({ at }) => at.getTime(),
  );
  const run = new Replay(policy);
  for (const [time, together] of all) run.at(new Date(time), together);
  return run.endAt(until);
}

class Replay {
  readonly #policy: Policy;
  readonly #looks: AutoLooks | undefined;
  readonly #kept: Kept[] = [];
  /** Nodes that Karpenter has chosen, and that are kept. */
  #waiting: Removal[] = [];
  /** Nodes that it will choose. */
  readonly #idle = new Set<Removal>();
  #hold: LaunchHold | undefined;
  #nextLook = new Date(0);
  /** Launches in a breather do not count. */
  #countFrom = new Date(0);

  constructor(policy: Policy) {
    this.#policy = policy;
    this.#looks = policy.auto?.looks();
  }

  /** What happens at one time. */
  at(now: Date, together: readonly NodeEvent[]): void {
    this.#pass(now);
    const launched: Launch[] = [];
    for (const event of together) {
      if ("idle" in event) this.#idle.add(event.idle);
      else if ("removal" in event) this.#remove(event.removal, now);
      else if (!this.#spare(event.launch, now)) launched.push(event.launch);
    }
    this.#extend(launched, now);
  }

  endAt(until: Date): readonly Kept[] {
    const { rules } = this.#policy;
    // What would be let go after the history ends is known: nothing more happens.
    this.#pass(this.#looks && this.#hold && rules ? endOf(this.#hold, rules).at : until);
    const rest = this.#waiting.map((removal): Kept => {
      const to = this.#endOf(removal);
      return { removal, from: removal.at, to: to ?? until, ...(to === undefined && { isOpen: true }) };
    });
    return [...this.#kept, ...rest];
  }

  #endOf(removal: Removal): Date | undefined {
    return this.#policy.waits(removal, this.#hold, this.#looks?.letGo.get(removal));
  }

  #remove(removal: Removal, now: Date): void {
    this.#idle.delete(removal);
    const to = this.#endOf(removal);
    if (to === undefined || to > now) this.#waiting.push(removal);
  }

  #spare(launch: Launch, now: Date): boolean {
    const removal = this.#waiting.find(({ nodePool }) => nodePool === launch.nodePool);
    if (!removal) return false;
    this.#waiting = this.#waiting.filter((one) => one !== removal);
    this.#kept.push({ removal, from: removal.at, to: now, spared: launch });
    return true;
  }

  /** Looks once a minute while launches hold, and removes what is due. */
  #pass(now: Date): void {
    while (this.#looks && this.#hold && this.#nextLook <= now) {
      const at = this.#nextLook;
      this.#settle(at);
      if (this.#hold) this.#looks.look(at, [...this.#idle, ...this.#waiting.filter(canBeIdle)]);
      this.#settle(at);
      this.#nextLook = after(at, lookEvery);
    }
    this.#settle(now);
  }

  #settle(now: Date): void {
    this.#waiting = this.#waiting.filter((removal) => {
      const to = this.#endOf(removal);
      if (to === undefined || to > now) return true;
      this.#kept.push({ removal, from: removal.at, to });
      return false;
    });
    const { rules } = this.#policy;
    const end = this.#hold && rules && endOf(this.#hold, rules);
    if (!end || !rules || end.at > now) return;
    this.#hold = undefined;
    this.#looks?.ended();
    if (end.isCapped) this.#countFrom = after(end.at, rules.breather);
  }

  #extend(launched: readonly Launch[], now: Date): void {
    const { rules } = this.#policy;
    if (!rules) return;
    const before = this.#hold;
    const launches = launched.map(({ node, at, nodePool }) => ({ instance: node, launchedAt: at, nodePool }));
    this.#hold = launchHoldAfter({
      ...{ before, launches, countFrom: this.#countFrom, now },
      rules: { ...rules, initialDelay: 0 },
    });
    if (!before) this.#nextLook = after(now, lookEvery);
    this.#looks?.launched(launched.length);
  }
}

/** Those that leave nothing in their place: their pods would fit on other nodes. */
export const canBeIdle = (removal: Removal): boolean => isReplayed(removal) && removal.share === 1;

/** Those that another policy could have delayed, and whose worth is known. */
export const isReplayed = ({ reason, share }: Removal): boolean =>
  (reason === "Empty" || reason === "Underutilized") && share !== undefined;
