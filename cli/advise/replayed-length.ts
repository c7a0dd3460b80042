import { bootCheck } from "../../lambda/core/auto/boot.ts";
import { decideHoldLength } from "../../lambda/core/auto/decide-hold-length.ts";
import {
  learnFromUse,
  nothingLearned,
  sameBurst,
  stopWatching,
  type Use,
} from "../../lambda/core/auto/learned.ts";
import { after, type Duration, hours } from "../../lambda/core/duration.ts";

type Plan = Readonly<{ hold: Duration; relaunchCost?: Duration; maxHold: Duration }>;

/** How long a replayed hold lasts after each launch: the plan's constant, or what the same decision has learned. */
export class ReplayedLength {
  readonly #plan: Plan;
  #learned = nothingLearned;
  #nodes = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  after(use: Omit<Use, "nodes">): Duration {
    const { hold, relaunchCost, maxHold } = this.#plan;
    if (relaunchCost === undefined) return hold;
    const since = this.#learned.idle?.since;
    this.#nodes = since && use.at < after(since, sameBurst) ? this.#nodes + 1 : 1;
    const terms = { relaunchCost, cap: maxHold || hours(24) };
    const learned = learnFromUse(this.#learned, { ...use, nodes: this.#nodes }, terms);
    const { length } = decideHoldLength(learned, relaunchCost, terms);
    this.#learned = learned.idle ? { ...learned, idle: { ...learned.idle, length } } : learned;
    return Math.max(length, bootCheck);
  }

  /** The hold was ended by its cap. */
  stop(at: Date): void {
    this.#learned = stopWatching(this.#learned, at, true);
  }
}
