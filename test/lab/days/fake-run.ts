import { appendFileSync } from "node:fs";
import { aRun } from "./a-run.ts";

// Stands for the process of one run: what it does depends on the arm.
const { arm, seed, karpenter } = JSON.parse(process.argv[2] ?? "");
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const log = process.env.FAKE_RUN_LOG;
if (log) appendFileSync(log, `${process.pid}\n`);

print({ progress: { at: 1, of: 2 } });
if (arm === "consolidate-after-1m") print({ error: "the engine went wrong" });
else if (arm === "consolidate-after-5m") process.exitCode = 3;
else if (arm === "consolidate-after-20m") setInterval(() => {}, 1_000);
else if (arm === "auto") {
  const holder = { holds: 1, turns: 1, calls: 1, errors: ["first", "second", "third", "fourth"] };
  print({ result: aRun({ arm, holder }) });
} else print({ result: aRun({ arm, seed, karpenter, key: `${arm} ${seed}` }) });
