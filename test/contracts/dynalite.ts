import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import dynalite from "dynalite";

/** A DynamoDB in memory, for what needs no more of it than conditional writes and queries. */
export async function startDynalite(): Promise<
  Readonly<{ client: DynamoDBClientConfig; close: () => Promise<void> }>
> {
  const server = dynalite({ createTableMs: 0 });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = { endpoint: `http://127.0.0.1:${port}`, region: "local", credentials };
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { client, close };
}
