import {
  EC2Client,
  paginateDescribeInstances,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { clusterTag } from "../../../lambda/core/marks/keys.ts";
import type { Emulator } from "../emulator/emulator.ts";

export type Tags = Readonly<Record<string, string>>;

/** The tags with which Karpenter launches. */
export const karpentersTags = (cluster: string, nodePool = "default"): Tags => ({
  "karpenter.sh/nodepool": nodePool,
  [clusterTag(cluster)]: "owned",
  "eks:eks-cluster-name": cluster,
  "karpenter.k8s.aws/ec2nodeclass": "default",
});

/** The account's instances; their state changes reach the bus as on AWS. */
export class Instances {
  readonly #client: EC2Client;

  constructor(emulator: Emulator) {
    this.#client = emulator.client(EC2Client);
  }

  /** Launches all of them in one call. */
  async launch(count: number, tags: Tags): Promise<readonly string[]> {
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    const { Instances = [] } = await this.#client.send(
      new RunInstancesCommand({
        ImageId: "ami-12345678",
        InstanceType: "m5.large",
        MinCount: count,
        MaxCount: count,
        ...(Tags.length > 0 && { TagSpecifications: [{ ResourceType: "instance", Tags }] }),
      }),
    );
    return Instances.map(({ InstanceId = "" }) => InstanceId);
  }

  async terminate(instance: string): Promise<void> {
    await this.#client.send(new TerminateInstancesCommand({ InstanceIds: [instance] }));
  }

  /** The ids of pending and running instances. */
  async ids(): Promise<string[]> {
    const Filters = [{ Name: "instance-state-name", Values: ["pending", "running"] }];
    const ids: string[] = [];
    for await (const { Reservations = [] } of paginateDescribeInstances(
      { client: this.#client },
      { Filters },
    ))
      ids.push(...Reservations.flatMap(({ Instances = [] }) => Instances.map((one) => one.InstanceId ?? "")));
    return ids.sort();
  }
}
