import { messageOf } from "../../lambda/core/errors.ts";
import type { EngineProcess } from "./engine-process.ts";
import { playRun } from "./play-one.ts";
import type { Spec } from "./spec.ts";

// The comparison starts this file as a process of its own for each run, with the run as JSON. It prints lines of JSON.

const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
let engine: EngineProcess | undefined;

// The parent decides when to stop, also when Ctrl-C reaches the whole group.
process.on("SIGINT", () => {});
const stop = () => void (engine?.stop() ?? Promise.resolve()).finally(() => process.exit(1));
process.once("SIGTERM", stop);
process.stdin.resume().once("end", stop);

try {
  const spec: Spec = JSON.parse(process.argv[2] ?? "");
  const onProgress = (progress: unknown) => print({ progress });
  print({ result: await playRun(spec, onProgress, (started) => (engine = started)) });
  process.exit(0);
} catch (error) {
  print({ error: messageOf(error) });
  process.exit(1);
}
