import {
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeAccessEntryCommand,
  DescribeClusterCommand,
  EKSClient,
  ListAssociatedAccessPoliciesCommand,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import { unreachableFromOutside } from "../../../lambda/aws/endpoint.ts";
import { isAws } from "../../../lambda/aws/errors.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { unlessGone } from "../../aws-errors.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { textIn } from "../checks/answered.ts";
import type { ClusterFacts } from "./account.ts";

/** The cluster as EKS knows it. */
export class AwsCluster {
  readonly #eks: EKSClient;
  readonly #name: string;

  constructor(config: AwsConfig, name: string) {
    this.#eks = new EKSClient(config);
    this.#name = name;
  }

  async find(): Promise<ClusterFacts | undefined> {
    const found = await unlessGone(() => this.#eks.send(new DescribeClusterCommand({ name: this.#name })));
    const cluster = found?.cluster;
    if (!cluster) return undefined;
    return {
      status: textIn(cluster.status) ?? "",
      version: textIn(cluster.version) ?? "",
      authenticationMode: textIn(cluster.accessConfig?.authenticationMode) ?? "CONFIG_MAP",
      unreachable: unreachableFromOutside(this.#name, cluster.resourcesVpcConfig),
    };
  }

  async accessGroups(principalArn: string): Promise<readonly string[] | undefined> {
    const command = new DescribeAccessEntryCommand({ clusterName: this.#name, principalArn });
    return (await unlessGone(() => this.#eks.send(command)))?.accessEntry?.kubernetesGroups;
  }

  async adminSince(principalArn: string): Promise<Date | undefined> {
    const entry = { clusterName: this.#name, principalArn };
    const found = await unlessGone(() => this.#eks.send(new ListAssociatedAccessPoliciesCommand(entry)));
    const admin = found?.associatedAccessPolicies?.find(({ policyArn }) =>
      policyArn?.endsWith("ClusterAdminPolicy"),
    );
    return admin?.associatedAt;
  }

  async deleteEntry(principalArn: string): Promise<void> {
    const entry = { clusterName: this.#name, principalArn };
    await unlessGone(() => this.#eks.send(new DeleteAccessEntryCommand(entry)));
  }

  async admit(principalArn: string): Promise<void> {
    const entry = { clusterName: this.#name, principalArn, kubernetesGroups: [holderName] };
    try {
      await this.#eks.send(new CreateAccessEntryCommand({ ...entry, type: "STANDARD" }));
    } catch (error) {
      if (!isAws(error, "exists already")) throw error;
      await this.#eks.send(new UpdateAccessEntryCommand(entry));
    }
  }
}
