import { messageOf } from "../../lambda/core/errors.ts";
import type { EngineProcess } from "./engine-process.ts";
import { playRun } from "./play-one.ts";
import type { Spec } from "./spec.ts";

// The comparison starts this file as a process of its own for each run, with the run as JSON and its key. It prints lines of JSON.

const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
let engine: EngineProcess | undefined;

// The parent decides when to stop, also when Ctrl-C reaches the whole group.
process.on("SIGINT", () => {});
// Without its engine the run fails, and removes what it has written.
const stop = () => void (engine ? engine.stop() : process.exit(1));
process.once("SIGTERM", stop);
process.stdin.resume().once("end", stop);

try {
  const [, , text = "", key = ""] = process.argv;
  const spec: Spec = JSON.parse(text);
  const onProgress = (progress: unknown) => print({ progress });
  print({ result: await playRun(spec, key, onProgress, (started) => (engine = started)) });
  process.exit(0);
} catch (error) {
  print({ error: messageOf(error) });
  process.exit(1);
}
