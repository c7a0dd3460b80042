import { functionName, type Part } from "../../infra/names.ts";
import { isAws } from "../../lambda/aws/errors.ts";
import type { Duration } from "../../lambda/core/duration.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { SettingEnvironment } from "../../lambda/environment.ts";
import { nearestName } from "../../lambda/spelling.ts";
import { explainAwsError } from "../aws-errors.ts";
import {
  type AwsConfig,
  awsConfig,
  type ClusterFlags,
  type HolderFlags,
  inSamePlace,
  withTimeLimits,
} from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type ControlClient, giveUpAfter, holderFailed, parseJson } from "./client.ts";
import { runningHolder } from "./running.ts";

/** The holder that the flags name. */
export const controlOf = async (flags: HolderFlags, env: Terminal["env"]): Promise<ControlClient> =>
  flags.run === undefined ? deployedHolder(flags, env) : runningHolder(flags, env);

/** The holder deployed for a cluster: invokes its control function, and needs no other right. */
export function deployedHolder(flags: ClusterFlags, env: Terminal["env"]): ControlClient {
  const config = awsConfig(flags, env);
  const name = functionName(flags.cluster, "control");
  const log = inSamePlace(`aws logs tail /aws/lambda/${name} --since 10m`, flags);
  const otherwise = `Run doctor to find what is broken, or read its log: ${log}`;
  const ask: ControlClient["ask"] = async (request, abortSignal) => {
    const what = { cluster: flags.cluster, part: "control", request, otherwise } as const;
    try {
      return await invoke(config, { ...what, ...(abortSignal && { abortSignal }) });
    } catch (error) {
      if (isAws(error, "not found")) throw await noHolder(flags.cluster, config);
      throw explainAwsError(error, `invoke ${name}`);
    }
  };
  // Only an app with the construct gives a holder a name of its own. A deployment must say where its alarms go.
  const toHold: ControlClient["toHold"] = ({ cluster: served }) =>
    served === flags.cluster
      ? `deploy with mode=hold and your other settings, like npx cdk deploy -c cluster=${served} -c mode=hold -c alarms=none, or with -c alarmTopicArn=ARN in place of alarms=none`
      : `set mode: "hold" for the holder ${flags.cluster} in its app`;
  return { ask, name: flags.cluster, flags: inSamePlace(`--cluster ${flags.cluster}`, flags), toHold };
}

type Invocation = Readonly<{
  cluster: string;
  part: Part;
  request: object;
  otherwise: string;
  abortSignal?: AbortSignal;
  /** A later answer is not waited for, and the function is invoked again. */
  within?: Duration;
}>;

/** Invokes a function, and returns its answer; throws the error that it reports, with `otherwise` as the remedy. */
export async function invoke(config: AwsConfig, invocation: Invocation): Promise<unknown> {
  const { cluster, part, request, otherwise, within = giveUpAfter, ...options } = invocation;
  const { InvokeCommand, LambdaClient } = await import("@aws-sdk/client-lambda");
  const FunctionName = functionName(cluster, part);
  const answer = await new LambdaClient(withTimeLimits(config, within)).send(
    new InvokeCommand({ FunctionName, Payload: JSON.stringify(request) }),
    options,
  );
  const who = `the ${part} function`;
  const payload = parseJson(who, Buffer.from(answer.Payload ?? []).toString());
  if (answer.FunctionError) throw holderFailed(who, payload, otherwise);
  return payload;
}

/** The function does not exist: lists the holders in this account, if permitted. */
export async function noHolder(cluster: string, config: AwsConfig): Promise<Failure> {
  const { region, found } = await findHolders(config);
  const here = region ? ` in ${region}` : " here";
  const meant = nearestName(cluster, found);
  const remedy =
    found.length === 0
      ? `Check --cluster, --region and --profile, or deploy: npx cdk deploy -c cluster=${cluster} -c alarms=none.`
      : `${meant ? `Did you mean ${meant}? ` : ""}Holders found${here}: ${found.join(", ")}.`;
  return new Failure(`there is no holder for cluster ${cluster}${here}`, remedy);
}

/** Of a long name its functions have only a part; those of a holder with a name of its own do not have its cluster's. */
const nameOf = (control: string, cluster: string): string =>
  control === functionName(cluster, "control")
    ? cluster
    : control.slice(`${holderName}-`.length, -"-control".length);

/** The holders in this account and region, as `--cluster` takes them; none where we may not know. */
async function findHolders(
  config: AwsConfig,
): Promise<Readonly<{ region: string | undefined; found: readonly string[] }>> {
  const { LambdaClient, paginateListFunctions } = await import("@aws-sdk/client-lambda");
  const client = new LambdaClient({ ...config, maxAttempts: 2 });
  const region = await client.config.region().catch(() => undefined);
  const found: string[] = [];
  try {
    for await (const page of paginateListFunctions({ client, stopOnSameToken: true }, {})) {
      for (const { FunctionName = "", Environment } of page.Functions ?? []) {
        const cluster: unknown = Environment?.Variables?.[SettingEnvironment.cluster];
        if (
          FunctionName.startsWith(`${holderName}-`) &&
          FunctionName.endsWith("-control") &&
          typeof cluster === "string"
        )
          found.push(nameOf(FunctionName, cluster));
      }
    }
    return { region, found: found.sort() };
  } catch {
    return { region, found: [] };
  }
}
