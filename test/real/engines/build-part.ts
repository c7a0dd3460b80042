import { constants, setPriority } from "node:os";
import { buildPart, type Part } from "./build.ts";

// The runner starts this file as a separate process beside suites, which have priority.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
try {
  await buildPart(process.argv[2] as Part);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
