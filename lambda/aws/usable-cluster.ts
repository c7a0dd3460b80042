import { DescribeClusterCommand, type EKSClient, type VpcConfigResponse } from "@aws-sdk/client-eks";
import { isAws } from "./errors.ts";

/** What a holder depends on in a cluster, as EKS describes it. */
export type ClusterFacts = Readonly<{
  status: string;
  version: string;
  authenticationMode: string;
  /** Why a function in no VPC cannot reach the cluster's API. */
  unreachable: Unusable | undefined;
}>;
export type Unusable = Readonly<{ reason: string; remedy: string }>;

/** Describes a cluster; undefined when there is none of this name. */
export async function describeCluster(eks: EKSClient, name: string): Promise<ClusterFacts | undefined> {
  try {
    const { cluster } = await eks.send(new DescribeClusterCommand({ name }));
    if (!cluster) return undefined;
    return {
      status: textIn(cluster.status),
      version: textIn(cluster.version),
      authenticationMode: textIn(cluster.accessConfig?.authenticationMode) || "CONFIG_MAP",
      unreachable: unreachableFromOutside(name, cluster.resourcesVpcConfig),
    };
  } catch (error) {
    if (isAws(error, "not found")) return undefined;
    throw error;
  }
}

// Proxies and emulators do not always answer by AWS's types.
const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** Why a cluster cannot have a holder that installs its own rights; undefined when it can. */
export function whyUnusable(
  name: string,
  cluster: ClusterFacts | undefined,
  { inVpc }: Readonly<{ inVpc: boolean }>,
): Unusable | undefined {
  if (!cluster) {
    const remedy = "Check the name, and deploy the holder where the cluster is.";
    return { reason: `there is no EKS cluster ${name} in this account and region`, remedy };
  }
  const { status, authenticationMode, unreachable } = cluster;
  if (status !== "ACTIVE" && status !== "UPDATING")
    return { reason: `${name} is ${status}`, remedy: "Wait until it is ACTIVE." };
  if (authenticationMode === "CONFIG_MAP") {
    const reason = `${name} has no access entries: it authenticates roles by the aws-auth ConfigMap only`;
    const remedy =
      `aws eks update-cluster-config --name ${name} --access-config authenticationMode=API_AND_CONFIG_MAP && ` +
      `aws eks wait cluster-active --name ${name} (or deploy with the setting access=manual, and give the rights by hand)`;
    return { reason, remedy };
  }
  return inVpc ? undefined : unreachable;
}

/** Why a function that is in no VPC cannot reach a cluster's API; undefined when it can. */
export function unreachableFromOutside(
  cluster: string,
  { endpointPublicAccess, endpointPrivateAccess, publicAccessCidrs }: VpcConfigResponse = {},
): Unusable | undefined {
  const subnets =
    endpointPrivateAccess === false
      ? "whose NAT gateway has one of these addresses: the cluster has no private endpoint"
      : "from which the cluster's private endpoint can be reached";
  const remedy = `Deploy with the setting vpc=SUBNETS,SECURITY-GROUPS, with subnets ${subnets}`;
  if (endpointPublicAccess === false) {
    return { reason: `${cluster} has a private endpoint only, and the functions are in no VPC`, remedy };
  }
  if (!Array.isArray(publicAccessCidrs) || areAllAddresses(publicAccessCidrs)) return undefined;
  const allowed = publicAccessCidrs.join(", ");
  const reason = `the endpoint of ${cluster} answers ${allowed} only, and the functions are in no VPC`;
  return { reason, remedy };
}

/** Whether these blocks together are every IPv4 address, of which a function outside of a VPC may have any. */
function areAllAddresses(blocks: readonly unknown[]): boolean {
  const ranges = blocks.flatMap((block) => {
    const [, address, bits] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(String(block)) ?? [];
    if (address === undefined) return [];
    const from = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    return { from, to: from + 2 ** (32 - Number(bits)) };
  });
  const covered = ranges
    .toSorted((a, b) => a.from - b.from)
    .reduce((end, { from, to }) => (from <= end ? Math.max(end, to) : end), 0);
  return covered === 2 ** 32;
}
