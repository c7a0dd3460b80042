import { isAws } from "../lambda/aws/errors.ts";
import { functionName } from "../lambda/names.ts";
import { nearestName } from "../lambda/spelling.ts";
import { explainAwsError } from "./aws-errors.ts";
import { type AwsConfig, awsConfig, type ClusterFlags } from "./terminal/cluster-flags.ts";
import { Failure } from "./terminal/failure.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** What can be asked of the control function; its answer is read by who asked. */
export type Ask = (request: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** The control function takes two minutes at most. */
const giveUpAfter = 130_000;

/** Asks the control function of the cluster named; needs the right to invoke it and no other. */
export function controlOf(flags: ClusterFlags, env: Terminal["env"]): Ask {
  const config = awsConfig(flags, env);
  const name = functionName(flags.cluster, "control");
  return async (request) => {
    const { InvokeCommand, LambdaClient } = await import("@aws-sdk/client-lambda");
    const client = new LambdaClient({ ...config, requestHandler: { requestTimeout: giveUpAfter } });
    try {
      const answer = await client.send(
        new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(request) }),
      );
      const payload = parse(answer.Payload);
      if (answer.FunctionError) throw functionFailed(name, payload);
      return payload;
    } catch (error) {
      if (isAws(error, "not found")) throw await noHolder(flags, config, error);
      throw explainAwsError(error, `invoke ${name}`);
    } finally {
      client.destroy();
    }
  };
}

function parse(payload: Uint8Array | undefined): unknown {
  const text = Buffer.from(payload ?? []).toString();
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch (error) {
    throw new Failure(
      `the control function answered with something that is not JSON: ${text.slice(0, 200)}`,
      "Run doctor: its code may be of another version.",
      { cause: error },
    );
  }
}

/** An error of the function itself; its stack trace is in its log. */
function functionFailed(name: string, payload: unknown): Failure {
  const { errorType, errorMessage } = Object(payload);
  const message = typeof errorMessage === "string" ? errorMessage : "the control function failed";
  if (errorType === "BadInputError") return new Failure(message, "Nothing was changed.");
  if (errorType === "TryAgainError") return new Failure(message, "This may pass: try again in a moment.");
  return new Failure(
    message,
    `Run doctor to find what is broken, or read its log: aws logs tail /aws/lambda/${name} --since 10m`,
  );
}

function didYouMean(cluster: string, found: readonly string[]): string {
  const meant = nearestName(cluster, found);
  return meant ? `Did you mean ${meant}? ` : "";
}

/** The function does not exist: lists the holders in this account, if permitted. */
async function noHolder(flags: ClusterFlags, config: AwsConfig, cause: unknown): Promise<Failure> {
  const { findHolders } = await import("./find-holders.ts");
  const { region, found } = await findHolders(config);
  const here = region ? ` in ${region}` : " here";
  const remedy =
    found === undefined
      ? "Check --cluster, --region and --profile, or deploy: npx cdk deploy -c cluster=NAME."
      : found.length === 0
        ? `There is none${here}: check --region and --profile, or deploy: npx cdk deploy -c cluster=${flags.cluster}.`
        : `${didYouMean(flags.cluster, found)}Holders found${here}: ${found.join(", ")}.`;
  return new Failure(`there is no holder for cluster ${flags.cluster}${here}`, remedy, { cause });
}
