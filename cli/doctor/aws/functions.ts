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
import { textIn } from "./values.ts";

export type FunctionFacts = NonNullable<Awaited<ReturnType<ReturnType<typeof awsFunctions>["functionOf"]>>>;

/** The holder's functions, and what feeds them. */
export function awsFunctions(config: AwsConfig, cluster: string) {
  const lambda = new LambdaClient({
    ...config,
    requestHandler: { requestTimeout: 310_000, throwOnRequestTimeout: true },
  });
  return {
    async functionOf(part: Part) {
      const FunctionName = functionName(cluster, part);
      const found = await unlessGone(() =>
        lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
      );
      if (!found) return undefined;
      const [{ ReservedConcurrentExecutions: reservedConcurrency }, invocations] = await Promise.all([
        lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })),
        unlessGone(() =>
          lambda.send(new GetFunctionEventInvokeConfigCommand({ FunctionName, Qualifier: "$LATEST" })),
        ),
      ]);
      const env = Object.entries(found.Environment?.Variables ?? {});
      return {
        name: FunctionName,
        arn: textIn(found.FunctionArn),
        roleArn: textIn(found.Role),
        state: textIn(found.State) || "Active",
        lastUpdate: textIn(found.LastUpdateStatus) || "Successful",
        /** When it was last deployed or reconfigured. */
        changedAt: new Date(textIn(found.LastModified) || 0),
        inVpc: (found.VpcConfig?.SubnetIds ?? []).length > 0,
        env: Object.fromEntries(env.map(([name, value]) => [name, textIn(value)])),
        /** 0: it was turned off. */
        reservedConcurrency,
        /** The destination of asynchronous invocations that failed. */
        failuresArn: textIn(invocations?.DestinationConfig?.OnFailure?.Destination),
      };
    },

    async mapping(FunctionName: string, EventSourceArn: string) {
      const { EventSourceMappings = [] } = await lambda.send(
        new ListEventSourceMappingsCommand({ FunctionName, EventSourceArn }),
      );
      const [found] = EventSourceMappings;
      if (!found) return undefined;
      const { UUID, State, LastProcessingResult } = found;
      return { id: textIn(UUID), state: textIn(State), lastResult: textIn(LastProcessingResult) };
    },

    async enableMapping(UUID: string): Promise<void> {
      await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: true }));
    },

    /** Invokes a function, and returns its answer; throws the error that it reports. */
    async invoke(part: Part, payload: object): Promise<unknown> {
      const FunctionName = functionName(cluster, part);
      const answer = await lambda.send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(payload) }));
      const text = Buffer.from(answer.Payload ?? []).toString();
      if (!answer.FunctionError) return parseJson(`the ${part} function`, text);
      const { errorMessage } = Object(JSON.parse(text || "{}"));
      throw new Error(`the ${part} function failed: ${textIn(errorMessage) || answer.FunctionError}`);
    },
  };
}
