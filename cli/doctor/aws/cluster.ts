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

/** Clusters as EKS knows them, and who may log in to them. */
export function awsCluster(config: AwsConfig) {
  const eks = new EKSClient(config);
  return {
    cluster: (name: string) => describeCluster(eks, name),

    /** The groups of a principal's access entry. */
    async accessGroups(clusterName: string, principalArn: string): Promise<readonly string[] | undefined> {
      const command = new DescribeAccessEntryCommand({ clusterName, principalArn });
      return (await unlessGone(() => eks.send(command)))?.accessEntry?.kubernetesGroups;
    },

    /** Since when a principal has the access policy of cluster admins. */
    async adminSince(clusterName: string, principalArn: string): Promise<Date | undefined> {
      const command = new ListAssociatedAccessPoliciesCommand({ clusterName, principalArn });
      const policies = (await unlessGone(() => eks.send(command)))?.associatedAccessPolicies;
      return policies?.find(({ policyArn }) => policyArn?.endsWith("ClusterAdminPolicy"))?.associatedAt;
    },

    /** Deletes the access entry of a principal, and with it every policy that is associated. */
    deleteEntry: (clusterName: string, principalArn: string): Promise<unknown> =>
      unlessGone(() => eks.send(new DeleteAccessEntryCommand({ clusterName, principalArn }))),

    async admit(clusterName: string, principalArn: string): Promise<void> {
      const entry = { clusterName, principalArn, kubernetesGroups: [holderName] };
      try {
        await eks.send(new CreateAccessEntryCommand({ ...entry, type: "STANDARD" }));
      } catch (error) {
        if (!isAws(error, "exists already")) throw error;
        await eks.send(new UpdateAccessEntryCommand(entry));
      }
    },
  };
}
