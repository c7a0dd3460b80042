import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { must } from "./must.ts";

/** Looks come at least once a minute. */
const slack = minutes(2);
/** So many nodes learn, each by itself. */
const levels = 8;

/**
 * Nodes that are all idle and all needed again at the same times. What hold=auto promises of them where pauses are alike: a
 * relaunch is waited for after six short pauses, or where all were short; and is not waited for after eight long ones, or
 * where all were long, or none is known. Evictions are always waited for, and so is the relaunch of the ninth node.
 */
export class WaitRules {
  readonly #relaunchCost: Duration;
  readonly #evictions: Duration;
  readonly #nodes: number;
  readonly #lengths: Duration[] = [];
  #cost = 0;
  #least = 0;

  /** The evictions from each node are worth so much. */
  constructor({ relaunchCost }: Pick<Rules, "relaunchCost">, nodes: number, evictions: Duration) {
    this.#relaunchCost = relaunchCost;
    this.#evictions = evictions;
    this.#nodes = nodes;
  }

  /** After so long a part of a pause, so many nodes have been let go, and so many of those were removed just now. */
  check(idleFor: Duration, letGo: number, removed: number): void {
    const [past, evictions, price] = [this.#lengths, this.#evictions, this.#price];
    const isLong = (length: Duration) => length >= this.#relaunchCost;
    const facts = () => ({ past, idleFor, letGo });
    must(letGo === 0 || idleFor >= evictions, "evictions are always waited for", facts);
    if (idleFor < price) {
      must(letGo <= levels, "from the ninth superfluous node on a relaunch is always waited for", facts);
      // This one counts, too, as soon as it is long.
      const known = [...past, ...(isLong(idleFor) ? [idleFor] : [])];
      const mustWait = known.length > 0 && !known.slice(-6).some(isLong);
      must(letGo === 0 || !mustWait, "a relaunch is waited for where nodes are needed again soon", facts);
    }
    // One that is hardly long may have been seen as short.
    const isTaught = past.slice(-8).every((length) => isLong(length - slack));
    const wanted =
      idleFor >= price + slack ? this.#nodes : isTaught && idleFor >= evictions + slack ? levels : 0;
    const isWaiting = letGo < Math.min(wanted, this.#nodes);
    must(!isWaiting, "a relaunch is not waited for where nodes are rarely needed again soon", facts);
    this.#cost += (this.#nodes - letGo) * minutes(1) + removed * price;
  }

  get #price(): Duration {
    return this.#relaunchCost + this.#evictions;
  }

  ended(length: Duration): void {
    this.#lengths.push(length);
    this.#least += this.#nodes * Math.min(length, this.#price);
    const pauses = this.#lengths.length * this.#nodes;
    const most = 4 * this.#least + 3 * this.#relaunchCost * levels + pauses * slack;
    const facts = () => ({ cost: this.#cost, most, past: this.#lengths });
    must(
      this.#cost <= most,
      "all pauses cost at most four times the least, and three relaunches a level",
      facts,
    );
  }
}
