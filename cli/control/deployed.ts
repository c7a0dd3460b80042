import { isAws } from "../../lambda/aws/errors.ts";
import { functionName } from "../../lambda/names.ts";
import { nearestName } from "../../lambda/spelling.ts";
import { explainAwsError } from "../aws-errors.ts";
import { type AwsConfig, awsConfig, type ClusterFlags } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type ControlClient, giveUpAfter, holderFailed, parseJson } from "./client.ts";

const who = "the control function";

/** The holder deployed for a cluster: invokes its control function, and needs no other right. */
export function deployedHolder(flags: ClusterFlags, env: Terminal["env"]): ControlClient {
  const config = awsConfig(flags, env);
  const name = functionName(flags.cluster, "control");
  const ask: ControlClient["ask"] = async (request) => {
    const { InvokeCommand, LambdaClient } = await import("@aws-sdk/client-lambda");
    const client = new LambdaClient({ ...config, requestHandler: { requestTimeout: giveUpAfter } });
    try {
      const answer = await client.send(
        new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(request) }),
      );
      const payload = parseJson(who, Buffer.from(answer.Payload ?? []).toString());
      if (answer.FunctionError) throw functionFailed(name, payload);
      return payload;
    } catch (error) {
      if (isAws(error, "not found")) throw await noHolder(flags, config, error);
      throw explainAwsError(error, `invoke ${name}`);
    } finally {
      client.destroy();
    }
  };
  return { ask, name: flags.cluster, flags: `--cluster ${flags.cluster}` };
}

/** An error of the function itself; its stack trace is in its log. */
const functionFailed = (name: string, payload: unknown): Failure =>
  holderFailed(
    who,
    payload,
    `Run doctor to find what is broken, or read its log: aws logs tail /aws/lambda/${name} --since 10m`,
  );

function didYouMean(cluster: string, found: readonly string[]): string {
  const meant = nearestName(cluster, found);
  return meant ? `Did you mean ${meant}? ` : "";
}

/** The function does not exist: lists the holders in this account, if permitted. */
async function noHolder(flags: ClusterFlags, config: AwsConfig, cause: unknown): Promise<Failure> {
  const { findHolders } = await import("../find-holders.ts");
  const { region, found } = await findHolders(config);
  const here = region ? ` in ${region}` : " here";
  const remedy =
    found === undefined
      ? "Check --cluster, --region and --profile, or deploy: npx cdk deploy -c cluster=NAME."
      : found.length === 0
        ? `No other cluster has one either: check --region and --profile, or deploy: npx cdk deploy -c cluster=${flags.cluster}.`
        : `${didYouMean(flags.cluster, found)}Holders found${here}: ${found.join(", ")}.`;
  return new Failure(`there is no holder for cluster ${flags.cluster}${here}`, remedy, { cause });
}
