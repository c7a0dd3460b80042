import { mkdirSync, statfsSync } from "node:fs";
import { buildFolder, oldestKarpenter } from "../engines/build.ts";
import { jobsOf, suites, UsageError } from "./jobs.ts";
import { runAll } from "./run-all.ts";
import { freshRunFolder } from "./run-folder.ts";

const help = `Tests the holder on real engines, which are built once into ${buildFolder}.

usage: npm run test:real [-- SUITE …]

  ${suites.join("\n  ")}
  karpenter@VERSION   on another version of Karpenter, as truth-table@VERSION and deployed-karpenter@VERSION; for example karpenter@${oldestKarpenter}

Without a suite all are run, and karpenter and truth-table also on ${oldestKarpenter}, the oldest v1 that builds here; up to three at a time.
Needs Go, Python and Java. KNH_BUILD=FOLDER builds elsewhere.
`;

/** What a whole run needs in its build folder at most: engines, and what those write. */
const leastRoom = 2.7e9;

function checkRoom(): void {
  mkdirSync(buildFolder, { recursive: true });
  const { bavail, bsize } = statfsSync(buildFolder);
  const room = bavail * bsize;
  if (room >= leastRoom) return;
  const [has, needs] = [room, leastRoom].map((bytes) => `${(bytes / 1e9).toFixed(1)} GB`);
  throw new Error(`${buildFolder} has ${has} of free disk; a whole run needs ${needs}`);
}

const print = (line: string) => process.stderr.write(`${line}\n`);

async function main(names: readonly string[]): Promise<number> {
  if (names.includes("--help") || names.includes("-h")) {
    process.stdout.write(help);
    return 0;
  }
  const jobs = jobsOf(names);
  if (names.length === 0) checkRoom();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  const folder = freshRunFolder();
  const context = { folder, live: jobs.length === 1 };
  const { passed, failed, skipped, failures } = await runAll(jobs, context, stop.signal);
  print(`\nlogs of the engines: ${folder}`);
  for (const why of failures) print(`failed: ${why}`);
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  return failed > 0 || stop.signal.aborted ? 1 : 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  print(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
