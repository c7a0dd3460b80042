import { EKSClient } from "@aws-sdk/client-eks";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { Annotations, type Environment, type Stack } from "aws-cdk-lib";
import { describeCluster, whyUnusable } from "../lambda/aws/usable-cluster.ts";
import { BrokenSetupError, messageOf } from "../lambda/core/errors.ts";
import { throughProxy } from "../local/environment-proxy.ts";
import type { ContextSettings } from "./settings/context.ts";

/** A deployment waits for it, so it does not wait long. */
const timeLimits = {
  connectionTimeout: 2_000,
  requestTimeout: 5_000,
  socketTimeout: 5_000,
  throwOnRequestTimeout: true,
};

type Place = Environment & Readonly<{ variables: NodeJS.ProcessEnv }>;

/**
 * Refuses to deploy for a cluster that cannot have a holder, before anything is created. An error of the stack stops
 * `cdk deploy` and `cdk diff`, and not `cdk destroy`. Where AWS cannot be asked, the deployment begins unchecked.
 */
export async function refuseUnusableCluster(
  stack: Stack,
  { cluster, access, vpc }: ContextSettings["props"],
  { account, region = "", variables }: Place,
): Promise<void> {
  if (access === "manual") return;
  try {
    const requestHandler = { ...throughProxy(variables)?.requestHandler, ...timeLimits };
    const config = { maxAttempts: 2, requestHandler, region };
    const { Account } = await new STSClient(config).send(new GetCallerIdentityCommand());
    if (Account !== account)
      throw new BrokenSetupError(
        `the app's credentials are of account ${Account}; name the profile in AWS_PROFILE`,
      );
    const found = await describeCluster(new EKSClient(config), cluster);
    const why = whyUnusable(cluster, found, { inVpc: vpc !== undefined });
    if (why) Annotations.of(stack).addError(`${why.reason}\n${why.remedy}`);
  } catch (error) {
    console.error(`Cluster ${cluster} is not checked before the deployment: ${messageOf(error)}`);
  }
}
