import type { VpcConfigResponse } from "@aws-sdk/client-eks";

const everyAddress = "0.0.0.0/0";

/** Why a function that is in no VPC cannot reach a cluster's API, with the remedy; undefined when it can. */
export function unreachableFromOutside(
  cluster: string,
  { endpointPublicAccess, publicAccessCidrs }: VpcConfigResponse = {},
): Readonly<{ reason: string; remedy: string }> | undefined {
  const remedy =
    `cdk deploy -c cluster=${cluster} -c vpc=SUBNETS,SECURITY-GROUPS, ` +
    "with subnets from which the cluster's private endpoint can be reached";
  if (endpointPublicAccess === false) {
    return { reason: `${cluster} has a private endpoint only, and the functions are in no VPC`, remedy };
  }
  if (!Array.isArray(publicAccessCidrs) || publicAccessCidrs.includes(everyAddress)) return undefined;
  const allowed = publicAccessCidrs.join(", ");
  const reason = `the endpoint of ${cluster} answers ${allowed} only, and the functions are in no VPC`;
  return { reason, remedy };
}
