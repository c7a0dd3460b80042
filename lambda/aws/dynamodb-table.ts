import { isDeepStrictEqual } from "node:util";
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
} from "@aws-sdk/client-dynamodb";
import { awsFailure } from "./errors.ts";
import { HoldTable, type Kind } from "./hold-table.ts";
import { type Fields, type Item, StoredFields, writeItem } from "./stored-fields.ts";

/** Under which condition a write is right, with the names and values its expression speaks of. */
export type Condition = Readonly<{ expression: string; names: Record<string, string>; values?: Item }>;

/** The one table: reads see every write that was acknowledged before. */
export class DynamodbTable {
  readonly #client: DynamoDBClient;
  readonly #name: string;

  constructor(client: DynamoDBClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  async find(kind: Kind, name: string): Promise<StoredFields | undefined> {
    const command = new GetItemCommand({
      TableName: this.#name,
      Key: { [HoldTable.partitionKey]: { S: kind }, [HoldTable.sortKey]: { S: name } },
      ConsistentRead: true,
    });
    const { Item } = await this.#call("read", () => this.#client.send(command));
    return Item && this.#read(Item);
  }

  /** Every item of a kind, by name or from the last name back; no page is read before it is asked for. */
  async *all(kind: Kind, { backwards = false, pageSize = 100 } = {}): AsyncGenerator<StoredFields> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#name,
        KeyConditionExpression: "#kind = :kind",
        ExpressionAttributeNames: { "#kind": HoldTable.partitionKey },
        ExpressionAttributeValues: { ":kind": { S: kind } },
        ScanIndexForward: !backwards,
        Limit: pageSize,
        ConsistentRead: true,
      },
    );
    for (;;) {
      const { value: page, done } = await this.#call("read", () => pages.next());
      if (done) return;
      for (const item of page.Items ?? []) yield this.#read(item);
    }
  }

  /** False when the condition does not hold. */
  async put(kind: Kind, name: string, fields: Fields, condition?: Condition): Promise<boolean> {
    const item = writeItem({ ...fields, [HoldTable.partitionKey]: kind, [HoldTable.sortKey]: name });
    const command = new PutItemCommand({
      TableName: this.#name,
      Item: item,
      ...(condition && {
        ConditionExpression: condition.expression,
        ExpressionAttributeNames: condition.names,
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
      ...(condition?.values && { ExpressionAttributeValues: condition.values }),
    });
    try {
      await this.#client.send(command);
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return isOwnFirstTry(error, item);
      throw this.#failure("write", error);
    }
  }

  #read(item: Record<string, AttributeValue>): StoredFields {
    const at = `${item[HoldTable.partitionKey]?.S} ${item[HoldTable.sortKey]?.S}`;
    return new StoredFields(item, `Table ${this.#name}, ${at}`);
  }

  async #call<T>(task: "read" | "write", call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#failure(task, error);
    }
  }

  #failure(task: "read" | "write", error: unknown): unknown {
    const remedy = "Look whether the table is there, and whether the functions' role may use it.";
    return awsFailure(error, `${task} table ${this.#name}`, remedy);
  }
}

/** Whether the SDK's retry met its own first try, which was done although its answer got lost. */
const isOwnFirstTry = (error: ConditionalCheckFailedException, item: Item): boolean =>
  (error.$metadata.attempts ?? 1) > 1 && isDeepStrictEqual(error.Item, item);
