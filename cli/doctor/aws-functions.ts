import {
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  GetFunctionEventInvokeConfigCommand,
  InvokeCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { functionName, type Part } from "../../lambda/names.ts";
import { unlessGone } from "../aws-trouble.ts";
import type { AwsConfig } from "../cluster-flags.ts";
import type { FunctionFacts, MappingFacts } from "./account.ts";

/** The holder's functions, and what feeds them. */
export class AwsFunctions {
  readonly #lambda: LambdaClient;
  readonly #cluster: string;

  constructor(config: AwsConfig, cluster: string) {
    this.#lambda = new LambdaClient({ ...config, requestHandler: { requestTimeout: 310_000 } });
    this.#cluster = cluster;
  }

  async find(part: Part): Promise<FunctionFacts | undefined> {
    const FunctionName = functionName(this.#cluster, part);
    const found = await unlessGone(() =>
      this.#lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
    );
    if (!found) return undefined;
    const [concurrency, invocations] = await Promise.all([
      unlessGone(() => this.#lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }))),
      unlessGone(() =>
        this.#lambda.send(new GetFunctionEventInvokeConfigCommand({ FunctionName, Qualifier: "$LATEST" })),
      ),
    ]);
    const reservedConcurrency = concurrency?.ReservedConcurrentExecutions;
    const failuresArn = invocations?.DestinationConfig?.OnFailure?.Destination;
    return {
      name: FunctionName,
      arn: found.FunctionArn ?? "",
      roleArn: found.Role ?? "",
      state: found.State ?? "Active",
      lastUpdate: found.LastUpdateStatus ?? "Successful",
      inVpc: (found.VpcConfig?.SubnetIds ?? []).length > 0,
      env: found.Environment?.Variables ?? {},
      ...(found.LastModified && { changedAt: new Date(found.LastModified) }),
      ...(reservedConcurrency !== undefined && { reservedConcurrency }),
      ...(failuresArn && { failuresArn }),
    };
  }

  async mapping(FunctionName: string, EventSourceArn: string): Promise<MappingFacts | undefined> {
    const { EventSourceMappings = [] } = await this.#lambda.send(
      new ListEventSourceMappingsCommand({ FunctionName, EventSourceArn }),
    );
    const [found] = EventSourceMappings;
    if (!found) return undefined;
    return { id: found.UUID ?? "", state: found.State ?? "", lastResult: found.LastProcessingResult ?? "" };
  }

  async enableMapping(UUID: string): Promise<void> {
    await this.#lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: true }));
  }

  async sweepNow(): Promise<void> {
    const name = functionName(this.#cluster, "sweep");
    const answer = await this.#lambda.send(new InvokeCommand({ FunctionName: name, Payload: "{}" }));
    if (!answer.FunctionError) return;
    const { errorMessage } = Object(JSON.parse(Buffer.from(answer.Payload ?? []).toString() || "{}"));
    throw new Error(`the sweep failed: ${errorMessage ?? answer.FunctionError}`);
  }
}
