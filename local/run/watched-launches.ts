import { after, type Duration, earlier, seconds } from "../../lambda/core/duration.ts";
import type { CallContext, Clock, Instance, Launch, Launches, NodeClaims } from "../../lambda/core/ports.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import type { NodeWatch } from "./node-watch.ts";

type WatchedLaunchesOptions = Readonly<{
  watch: NodeWatch;
  nodeClaims: NodeClaims;
  clock: Clock;
  poolLabel: string;
}>;

/** The pass over the scope needs the rest of the time. */
const claimsTime: Duration = seconds(10);

/** Without a cloud to ask, a node's appearance is its launch; its NodeClaim, where there is one, is from before. */
export class WatchedLaunches implements Launches {
  readonly #watch: NodeWatch;
  readonly #nodeClaims: NodeClaims;
  readonly #clock: Clock;
  readonly #poolLabel: string;

  constructor({ watch, nodeClaims, clock, poolLabel }: WatchedLaunchesOptions) {
    this.#watch = watch;
    this.#nodeClaims = nodeClaims;
    this.#clock = clock;
    this.#poolLabel = poolLabel;
  }

  async find(instances: readonly string[], context: CallContext): Promise<ReadonlyMap<string, Instance>> {
    const claimedAt = await this.#claimedAt(context);
    const wanted = new Set(instances);
    const found = this.#all().filter(({ instance }) => wanted.has(instance));
    return new Map(
      found.map(({ instance: id, launchedAt, nodePool }) => [
        id,
        { id, launchedAt: claimedAt.get(id) ?? launchedAt, nodePool },
      ]),
    );
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    return this.#all().filter(({ launchedAt }) => launchedAt >= moment);
  }

  /** When Karpenter asked for each instance. */
  async #claimedAt(context: CallContext): Promise<ReadonlyMap<string | undefined, Date>> {
    const deadline = earlier(context.deadline, after(this.#clock.now(), claimsTime));
    const claims = await this.#nodeClaims.list(wholeCluster, { ...context, deadline }).catch(() => []);
    const known = "unavailable" in claims ? [] : claims;
    return new Map(known.map(({ instance, createdAt }) => [instance, createdAt]));
  }

  #all(): readonly Launch[] {
    return [...this.#watch.nodes.values()].map(({ instance, createdAt, labels }) => ({
      instance,
      launchedAt: createdAt,
      nodePool: labels?.[this.#poolLabel] ?? "",
    }));
  }
}
