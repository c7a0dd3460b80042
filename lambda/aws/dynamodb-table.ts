import { isDeepStrictEqual } from "node:util";
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import { TryAgainError } from "../core/errors.ts";
import {
  type Fields,
  HoldTable,
  type Item,
  type ItemTable,
  type Kind,
  type Storable,
  type StoredItem,
} from "../record/item-table.ts";
import { awsFailure } from "./errors.ts";

/** The table of the deployment: reads see every write that was acknowledged before. */
export class DynamodbTable implements ItemTable {
  readonly #client: DynamoDBClient;
  readonly #name: string;

  constructor(client: DynamoDBClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  async find(kind: Kind, name: string): Promise<StoredItem | undefined> {
    const command = new GetItemCommand({
      TableName: this.#name,
      Key: { [HoldTable.partitionKey]: { S: kind }, [HoldTable.sortKey]: { S: name } },
      ConsistentRead: true,
    });
    const { Item } = await this.#call("read", () => this.#client.send(command));
    return Item && this.#read(Item);
  }

  /** Reads a page only when its first item is requested. */
  async *all(kind: Kind, { backwards = false, pageSize = 100 } = {}): AsyncGenerator<StoredItem> {
    const read = new Set<string>();
    for (let ExclusiveStartKey: AttributeMap | undefined; ; ) {
      const command = new QueryCommand({
        TableName: this.#name,
        KeyConditionExpression: "#kind = :kind",
        ExpressionAttributeNames: { "#kind": HoldTable.partitionKey },
        ExpressionAttributeValues: { ":kind": { S: kind } },
        ScanIndexForward: !backwards,
        Limit: pageSize,
        ConsistentRead: true,
        ExclusiveStartKey,
      });
      const { Items, LastEvaluatedKey } = await this.#call("read", () => this.#client.send(command));
      for (const item of Items ?? []) yield this.#read(item);
      if (!LastEvaluatedKey) return;
      const next = JSON.stringify(LastEvaluatedKey);
      if (read.has(next)) throw new TryAgainError(`Table ${this.#name} names the same next page twice`);
      read.add(next);
      ExclusiveStartKey = LastEvaluatedKey;
    }
  }

  async put(kind: Kind, name: string, fields: Fields, ifVersion?: number): Promise<boolean> {
    const item = toAttributes({ ...fields, [HoldTable.partitionKey]: kind, [HoldTable.sortKey]: name });
    const command = new PutItemCommand({
      TableName: this.#name,
      Item: item,
      ...(ifVersion !== undefined && conditionOn(ifVersion)),
    });
    try {
      await this.#client.send(command);
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return isOwnFirstTry(error, item);
      throw this.#failure("write", error);
    }
  }

  #read(item: AttributeMap): StoredItem {
    const at = `${item[HoldTable.partitionKey]?.S} ${item[HoldTable.sortKey]?.S}`;
    return { item: fromAttributes(item), where: `Table ${this.#name}, ${at}` };
  }

  async #call<T>(task: "read" | "write", call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#failure(task, error);
    }
  }

  #failure(task: "read" | "write", error: unknown): unknown {
    const remedy = "Check that the table exists and that the functions' role may use it.";
    return awsFailure(error, `${task} table ${this.#name}`, remedy);
  }
}

const neverWritten = {
  ConditionExpression:
    "attribute_not_exists(#name) OR NOT attribute_type(#version, :number) OR #version < :first",
  ExpressionAttributeNames: { "#name": HoldTable.sortKey, "#version": "version" },
  ExpressionAttributeValues: { ":number": { S: "N" }, ":first": { N: "1" } },
};
const unchangedSince = (version: number) => ({
  ConditionExpression: "#version = :version",
  ExpressionAttributeNames: { "#version": "version" },
  ExpressionAttributeValues: { ":version": { N: String(version) } },
});
const conditionOn = (version: number) => ({
  ...(version === 0 ? neverWritten : unchangedSince(version)),
  ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
});

/** Whether the SDK's own first try had succeeded, and only its answer was lost. */
const isOwnFirstTry = (error: ConditionalCheckFailedException, item: AttributeMap): boolean =>
  (error.$metadata.attempts ?? 1) > 1 && isDeepStrictEqual(error.Item, item);

export type AttributeMap = Record<string, AttributeValue>;

/** Fields as DynamoDB stores them. */
export function toAttributes(fields: Fields): AttributeMap {
  const map: AttributeMap = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) map[name] = toAttribute(value);
  }
  return map;
}

function toAttribute(value: Exclude<Storable, undefined>): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number") return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (value instanceof Date) return { S: value.toISOString() };
  if (isList(value)) return { L: value.flatMap((item) => (item === undefined ? [] : [toAttribute(item)])) };
  return { M: toAttributes(value) };
}

const isList = (value: Storable): value is readonly Storable[] => Array.isArray(value);

/** The same item as JSON. */
export const fromAttributes = (map: AttributeMap): Item =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, fromAttribute(value)]));

/** A type that we never write becomes null, which the schema refuses. */
function fromAttribute(value: AttributeValue): unknown {
  if (value.N !== undefined) return Number(value.N);
  if (value.M !== undefined) return fromAttributes(value.M);
  if (value.L !== undefined) return value.L.map(fromAttribute);
  return value.S ?? value.BOOL ?? null;
}
