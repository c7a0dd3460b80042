import {
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeAccessEntryCommand,
  EKSClient,
  ListAssociatedAccessPoliciesCommand,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import { isAws } from "../../../lambda/aws/errors.ts";
import { describeCluster } from "../../../lambda/aws/usable-cluster.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { unlessGone } from "../../aws-errors.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import type { Account } from "./account.ts";

type Cluster = Pick<Account, "cluster" | "accessGroups" | "adminSince" | "deleteEntry" | "admit">;

/** The cluster as EKS knows it, and who may log in to it. */
export function awsCluster(config: AwsConfig, name: string): Cluster {
  const eks = new EKSClient(config);

  async function accessGroups(principalArn: string): Promise<readonly string[] | undefined> {
    const command = new DescribeAccessEntryCommand({ clusterName: name, principalArn });
    return (await unlessGone(() => eks.send(command)))?.accessEntry?.kubernetesGroups;
  }

  async function adminSince(principalArn: string): Promise<Date | undefined> {
    const entry = { clusterName: name, principalArn };
    const found = await unlessGone(() => eks.send(new ListAssociatedAccessPoliciesCommand(entry)));
    const admin = found?.associatedAccessPolicies?.find(({ policyArn }) =>
      policyArn?.endsWith("ClusterAdminPolicy"),
    );
    return admin?.associatedAt;
  }

  async function deleteEntry(principalArn: string): Promise<void> {
    const entry = { clusterName: name, principalArn };
    await unlessGone(() => eks.send(new DeleteAccessEntryCommand(entry)));
  }

  async function admit(principalArn: string): Promise<void> {
    const entry = { clusterName: name, principalArn, kubernetesGroups: [holderName] };
    try {
      await eks.send(new CreateAccessEntryCommand({ ...entry, type: "STANDARD" }));
    } catch (error) {
      if (!isAws(error, "exists already")) throw error;
      await eks.send(new UpdateAccessEntryCommand(entry));
    }
  }

  return { cluster: () => describeCluster(eks, name), accessGroups, adminSince, deleteEntry, admit };
}
