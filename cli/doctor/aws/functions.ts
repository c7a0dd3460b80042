import {
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  GetFunctionEventInvokeConfigCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { functionName, type Part } from "../../../infra/names.ts";
import { unlessGone } from "../../aws-errors.ts";
import { invoke } from "../../control/control.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { textIn } from "./values.ts";

/** The holder's functions, and what feeds them. */
export function awsFunctions(config: AwsConfig, cluster: string) {
  const lambda = new LambdaClient(config);
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
        lastUpdate: textIn(found.LastUpdateStatus),
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

    async hasAlias(part: Part, Qualifier: string): Promise<boolean> {
      const FunctionName = functionName(cluster, part);
      const command = new GetFunctionConfigurationCommand({ FunctionName, Qualifier });
      return (await unlessGone(() => lambda.send(command))) !== undefined;
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

    enableMapping: (UUID: string): Promise<unknown> =>
      lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: true })),

    /** Invokes a function, and returns its answer; throws the error that it reports. */
    invoke(part: Part, request: object): Promise<unknown> {
      const otherwise = readLog(functionName(cluster, part));
      return invoke(config, { cluster, part, request, otherwise });
    },
  };
}

export const readLog = (name: string): string => `Read its log: aws logs tail /aws/lambda/${name} --since 1h`;
