import type { Duration } from "../../lambda/core/duration.ts";
import { levels } from "../../lambda/core/pauses.ts";
import { type Account, lookAtNodes, noAccount, type Prices, withoutNodes } from "../../lambda/core/pays.ts";
import { anyNode, type Bound, type Room } from "../../lambda/core/room.ts";
import type { Removal } from "./history.ts";

/**
 * The rule of `hold=auto` on what history shows of a cluster: nodes that Karpenter removed, from when they were idle; all
 * others together are one node that has room for their pods.
 */
export class AutoLooks {
  /** When nodes were let go. */
  readonly letGo = new Map<Removal, Date>();
  readonly #prices: Prices;
  readonly #learns: boolean;
  #account = noAccount(new Date(0));
  #launched = 0;

  constructor(prices: Prices, learns: boolean) {
    this.#prices = prices;
    this.#learns = learns;
  }

  /** So many nodes were launched, because no kept one took their place. */
  launched(count: number): void {
    this.#launched += count;
  }

  look(now: Date, idle: readonly Removal[]): void {
    const names = new Map(idle.map((removal) => [removal.node, removal]));
    const rooms = [others, ...names.keys()].map(roomNamed);
    const pods = idle.flatMap(({ node, pods }) =>
      Array.from({ length: Math.round(pods) }, () => podOn(node)),
    );
    const counted = this.#countLaunches(names);
    const before = this.#learns ? counted : unlearned(counted);
    const { account, verdicts } = lookAtNodes(before, rooms, [work, ...pods], this.#prices, now);
    this.#account = account;
    this.#launched = 0;
    for (const { name, isLetGo } of verdicts) {
      const removal = names.get(name);
      if (removal && isLetGo && !this.letGo.has(removal)) this.letGo.set(removal, now);
      else if (removal && !isLetGo) this.letGo.delete(removal);
    }
  }

  /** The hold has ended. */
  ended(): void {
    this.#account = withoutNodes(this.#account);
  }

  /** The account as if exactly so many nodes had been launched since: history does not have the others. */
  #countLaunches(idle: ReadonlyMap<string, unknown>): Account {
    const taken = Object.keys(this.#account.letGo).filter((name) => !idle.has(name)).length;
    return { ...this.#account, nodes: 1 + idle.size + taken - this.#launched };
  }
}

/** Without what it learns, each relaunch is waited for. */
const unlearned = (account: Account): Account => ({
  ...account,
  pauses: { ...account.pauses, learned: Array(levels).fill(0) },
});

/** Looks come once a minute. */
export const lookEvery: Duration = 60_000;

const others = "all other nodes";
const roomNamed = (name: string): Room => ({
  ...{ name, allocatable: { cpu: 1, memory: 1, pods: 1_000_000 }, labels: {}, taints: [], isOpen: true },
});
const podOn = (node: string): Bound => ({
  ...{ node, requests: {}, needsNoPlace: false, needs: { nodes: anyNode, tolerations: [] } },
});
/** It keeps the other nodes. */
const work: Bound = {
  ...{ node: others, requests: { cpu: 1 }, needsNoPlace: false },
  needs: { nodes: anyNode, tolerations: [], isUnknown: true },
};
