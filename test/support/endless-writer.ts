import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamodbHolds } from "../../lambda/aws/dynamodb-holds.ts";
import { openEmbeddedDatabase } from "../../local/run/embedded-database.ts";
import { aHold, aRecord } from "./builders.ts";

// Writes one record again and again into the database of its first argument and tells its parent each acknowledged version.
const database = await openEmbeddedDatabase(process.argv[2]);
const holds = new DynamodbHolds(new DynamoDBClient(database.client), database.table);
for (let version = 0; ; version += 1) {
  await holds.write(aRecord({ version, hold: aHold({ launches: version }) }));
  process.send?.(version + 1);
}
