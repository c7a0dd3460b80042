import {
  type EC2Client,
  type Instance as Ec2Instance,
  type Filter,
  paginateDescribeInstances,
} from "@aws-sdk/client-ec2";
import { clusterTag, Karpenter } from "../core/marks/keys.ts";
import type { Instance, Launch, Launches } from "../core/ports.ts";
import { awsFailure } from "./errors.ts";

/** What one filter may list. */
const mostValues = 200;
const poolTags: readonly string[] = [...new Set(Object.values(Karpenter).map(({ poolTag }) => poolTag))];

/** Asks EC2 by filter, never by a list of ids: an id it does not know yet would be an error for all the others. */
export class Ec2Launches implements Launches {
  readonly #client: EC2Client;
  readonly #cluster: string;

  constructor(client: EC2Client, cluster: string) {
    this.#client = client;
    this.#cluster = cluster;
  }

  async find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    const ids = [...new Set(instances)].filter((id) => id.startsWith("i-"));
    const found = new Map<string, Instance>();
    for (let i = 0; i < ids.length; i += mostValues) {
      const filter = { Name: "instance-id", Values: ids.slice(i, i + mostValues) };
      for await (const instance of this.#describe([filter])) found.set(instance.id, instance);
    }
    return found;
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    const launches: Launch[] = [];
    const filters = [
      { Name: `tag:${clusterTag(this.#cluster)}`, Values: ["owned"] },
      { Name: "tag-key", Values: [...poolTags] },
      { Name: "instance-state-name", Values: ["pending", "running"] },
    ];
    for await (const { id, launchedAt, nodePool } of this.#describe(filters)) {
      if (nodePool !== undefined && launchedAt >= moment)
        launches.push({ instance: id, launchedAt, nodePool });
    }
    return launches;
  }

  async *#describe(Filters: Filter[]): AsyncGenerator<Instance> {
    try {
      for await (const page of paginateDescribeInstances(
        { client: this.#client, pageSize: 1000, stopOnSameToken: true },
        { Filters },
      )) {
        for (const { Instances = [] } of page.Reservations ?? []) {
          for (const instance of Instances) yield* this.#read(instance);
        }
      }
    } catch (error) {
      throw awsFailure(
        error,
        "describe instances",
        "Look whether the functions' role may call ec2:DescribeInstances.",
      );
    }
  }

  *#read({ InstanceId, LaunchTime, State, Tags = [] }: Ec2Instance): Generator<Instance> {
    if (!InstanceId || !LaunchTime) return;
    // Right after a launch EC2 may tell of the instance, but not yet of its tags.
    if (State?.Name === "pending" && Tags.length === 0) return;
    const tags = new Map(Tags.map(({ Key, Value }) => [Key, Value]));
    const isOurs = tags.get(clusterTag(this.#cluster)) === "owned";
    const nodePool = poolTags.map((tag) => tags.get(tag)).find((value) => value !== undefined);
    yield { id: InstanceId, launchedAt: LaunchTime, ...(isOurs && nodePool && { nodePool }) };
  }
}
