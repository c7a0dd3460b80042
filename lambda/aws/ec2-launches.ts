import {
  type EC2Client,
  type Instance as Ec2Instance,
  type Filter,
  paginateDescribeInstances,
} from "@aws-sdk/client-ec2";
import { type Duration, formatDuration, seconds } from "../core/duration.ts";
import { TryAgainError } from "../core/errors.ts";
import { launchTags, nodePoolIn } from "../core/marks/keys.ts";
import type { Instance, Launch, Launches } from "../core/ports.ts";
import { awsFailure } from "./errors.ts";

/** The number of values that one filter may have. */
const mostValues = 200;
/** How long one query to EC2 may take, with all its pages and retries. */
const timeLimit = seconds(60);

/** Queries EC2 by filter, never by a list of ids: one id that EC2 does not know yet would fail the whole call. */
export class Ec2Launches implements Launches {
  readonly #client: EC2Client;
  readonly #cluster: string;
  readonly #timeLimit: Duration;

  constructor(client: EC2Client, cluster: string, limit: Duration = timeLimit) {
    this.#client = client;
    this.#cluster = cluster;
    this.#timeLimit = limit;
  }

  async find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    const ids = [...new Set(instances)].filter((id) => id.startsWith("i-"));
    const found = new Map<string, Instance>();
    const signal = AbortSignal.timeout(this.#timeLimit);
    for (let i = 0; i < ids.length; i += mostValues) {
      const filter = { Name: "instance-id", Values: ids.slice(i, i + mostValues) };
      for await (const instance of this.#describe([filter], signal)) found.set(instance.id, instance);
    }
    return found;
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    const launches = new Map<string, Launch>();
    const signal = AbortSignal.timeout(this.#timeLimit);
    for (const tags of launchTags(this.#cluster)) {
      const filters = [
        { Name: `tag:${tags.cluster}`, Values: [tags.value] },
        { Name: "tag-key", Values: [...tags.pools] },
        { Name: "instance-state-name", Values: ["pending", "running"] },
      ];
      for await (const { id, launchedAt, nodePool } of this.#describe(filters, signal)) {
        if (nodePool !== undefined && launchedAt >= moment)
          launches.set(id, { instance: id, launchedAt, nodePool });
      }
    }
    return [...launches.values()];
  }

  async *#describe(Filters: Filter[], abortSignal: AbortSignal): AsyncGenerator<Instance> {
    // Without this, EC2 may leave out the instances that EKS Auto Mode manages.
    const input = { Filters, IncludeManagedResources: true };
    try {
      for await (const page of paginateDescribeInstances(
        { client: this.#client, pageSize: 1000, stopOnSameToken: true },
        input,
        { abortSignal },
      )) {
        for (const { Instances = [] } of page.Reservations ?? []) {
          for (const instance of Instances) yield* this.#read(instance);
        }
      }
    } catch (error) {
      if (abortSignal.aborted) {
        const limit = formatDuration(this.#timeLimit);
        throw new TryAgainError(`EC2 did not describe the instances within ${limit}`, { cause: error });
      }
      throw awsFailure(
        error,
        "describe instances",
        "Check that the functions' role may call ec2:DescribeInstances.",
      );
    }
  }

  *#read({ InstanceId, LaunchTime, State, Tags = [] }: Ec2Instance): Generator<Instance> {
    if (!InstanceId || !LaunchTime) return;
    // Right after a launch EC2 may return the instance without its tags.
    if (State?.Name === "pending" && Tags.length === 0) return;
    const tags = new Map(Tags.map(({ Key = "", Value }) => [Key, Value]));
    const nodePool = nodePoolIn(tags, this.#cluster);
    yield { id: InstanceId, launchedAt: LaunchTime, ...(nodePool && { nodePool }) };
  }
}
