import {
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  GetFunctionEventInvokeConfigCommand,
  InvokeCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { functionName, type Part } from "../../../lambda/names.ts";
import { unlessGone } from "../../aws-errors.ts";
import { parseJson } from "../../control/client.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { type Account, type FunctionFacts, type MappingFacts, textIn } from "./account.ts";

type Functions = Pick<Account, "functionOf" | "mapping" | "enableMapping" | "invoke">;

/** The holder's functions, and what feeds them. */
export function awsFunctions(config: AwsConfig, cluster: string): Functions {
  const lambda = new LambdaClient({
    ...config,
    requestHandler: { requestTimeout: 310_000, throwOnRequestTimeout: true },
  });

  async function functionOf(part: Part): Promise<FunctionFacts | undefined> {
    const FunctionName = functionName(cluster, part);
    const found = await unlessGone(() => lambda.send(new GetFunctionConfigurationCommand({ FunctionName })));
    if (!found) return undefined;
    const [concurrency, invocations] = await Promise.all([
      lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })),
      unlessGone(() =>
        lambda.send(new GetFunctionEventInvokeConfigCommand({ FunctionName, Qualifier: "$LATEST" })),
      ),
    ]);
    const { ReservedConcurrentExecutions: reservedConcurrency } = concurrency;
    const failuresArn = textIn(invocations?.DestinationConfig?.OnFailure?.Destination);
    const env = Object.entries(found.Environment?.Variables ?? {});
    return {
      name: FunctionName,
      arn: textIn(found.FunctionArn) ?? "",
      roleArn: textIn(found.Role) ?? "",
      state: textIn(found.State) ?? "Active",
      lastUpdate: textIn(found.LastUpdateStatus) ?? "Successful",
      inVpc: (found.VpcConfig?.SubnetIds ?? []).length > 0,
      env: Object.fromEntries(env.map(([name, value]) => [name, textIn(value) ?? ""])),
      ...(found.LastModified && { changedAt: new Date(found.LastModified) }),
      ...(reservedConcurrency !== undefined && { reservedConcurrency }),
      ...(failuresArn && { failuresArn }),
    };
  }

  async function mapping(FunctionName: string, EventSourceArn: string): Promise<MappingFacts | undefined> {
    const { EventSourceMappings = [] } = await lambda.send(
      new ListEventSourceMappingsCommand({ FunctionName, EventSourceArn }),
    );
    const [found] = EventSourceMappings;
    if (!found) return undefined;
    const { UUID, State, LastProcessingResult } = found;
    return {
      id: textIn(UUID) ?? "",
      state: textIn(State) ?? "",
      lastResult: textIn(LastProcessingResult) ?? "",
    };
  }

  async function enableMapping(UUID: string): Promise<void> {
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: true }));
  }

  async function invoke(part: Part, payload: object): Promise<unknown> {
    const FunctionName = functionName(cluster, part);
    const answer = await lambda.send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(payload) }));
    const text = Buffer.from(answer.Payload ?? []).toString();
    if (!answer.FunctionError) return parseJson(`the ${part} function`, text);
    const { errorMessage } = Object(JSON.parse(text || "{}"));
    throw new Error(`the ${part} function failed: ${textIn(errorMessage) ?? answer.FunctionError}`);
  }

  return { functionOf, mapping, enableMapping, invoke };
}
