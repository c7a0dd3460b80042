import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { GetFunctionConfigurationCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { after, type Duration } from "../../../lambda/core/duration.ts";
import { Environment } from "../../../lambda/environment.ts";
import { functionName } from "../../../lambda/names.ts";
import { HoldTable, Kind } from "../../../lambda/record/item-table.ts";
import type { Emulator } from "../emulator/emulator.ts";

/** Moves all times of the record into the past by this much. */
export async function ageRecord(emulator: Emulator, cluster: string, by: Duration): Promise<void> {
  const FunctionName = functionName(cluster, "sweep");
  const command = new GetFunctionConfigurationCommand({ FunctionName });
  const { Environment: env } = await emulator.client(LambdaClient).send(command);
  const TableName = env?.Variables?.[Environment.holdTable];
  const Key = { [HoldTable.partitionKey]: { S: Kind.record }, [HoldTable.sortKey]: { S: "cluster" } };
  const table = emulator.client(DynamoDBClient);
  const { Item = {} } = await table.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  await table.send(new PutItemCommand({ TableName, Item: older(Item, by) }));
}

const older = (item: Record<string, AttributeValue>, by: Duration): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]): [string, AttributeValue] => {
      if (value.M) return [name, { M: older(value.M, by) }];
      const isMoment = value.S !== undefined && /^\d{4}-\d\d-\d\dT/.test(value.S);
      return [name, isMoment ? { S: after(new Date(value.S ?? ""), -by).toISOString() } : value];
    }),
  );
