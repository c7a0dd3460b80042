import { EKSClient } from "@aws-sdk/client-eks";
import { GetFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { unlessGone } from "../../cli/aws-errors.ts";
import { functionName } from "../../infra/names.ts";
import { describeCluster, whyUnusable } from "../../lambda/aws/usable-cluster.ts";
import { type Check, judged, type Seen, type Tools } from "./smoke.ts";

/** What must be so before anything is created. */
export const accountChecks: readonly Check[] = [
  {
    assumption: "the cluster can have a holder",
    expected: "active, access entries allowed, endpoint reachable",
    look: cluster,
  },
  {
    assumption: "no holder is deployed for it yet",
    expected: "no control function",
    look: holder,
  },
];

async function cluster({ smoke, isInVpc: inVpc }: Tools): Promise<Seen> {
  const found = await describeCluster(new EKSClient(smoke.aws), smoke.cluster);
  const why = whyUnusable(smoke.cluster, found, { inVpc });
  if (why) return judged(false, `${why.reason}: ${why.remedy}`);
  return judged(
    true,
    `${found?.status}, Kubernetes ${found?.version}, ${found?.authenticationMode}, reachable`,
  );
}

async function holder({ smoke }: Tools): Promise<Seen> {
  const name = functionName(smoke.cluster, "control");
  const ask = () => new LambdaClient(smoke.aws).send(new GetFunctionCommand({ FunctionName: name }));
  if ((await unlessGone(ask())) === undefined) return judged(true, "none");
  return judged(false, `${name} is there: smoke would deploy over it, and destroy it`);
}
