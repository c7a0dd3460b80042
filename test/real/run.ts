import { type ChildProcess, spawn } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { buildFolder, newestKarpenter, oldestKarpenter } from "./build.ts";

const root = resolve(import.meta.dirname, "../..");
const suites = globSync("*.suite.ts", { cwd: import.meta.dirname }).map((file) =>
  basename(file, ".suite.ts"),
);

const help = `Proves the holder on real engines, which are built once into ${buildFolder}.

usage: npm run test:real [-- SUITE …]

  ${suites.sort().join("\n  ")}
  karpenter@VERSION   the Karpenter suite on another version, for example karpenter@${oldestKarpenter}

Without a suite all are run, and the Karpenter suite also on ${oldestKarpenter}, the oldest v1 that builds here.`;

type Job = Readonly<{ title: string; files: readonly string[]; karpenter: string }>;
type Counts = Readonly<{ passed: number; failed: number; skipped: number }>;

let running: ChildProcess | undefined;

function jobsOf(names: readonly string[]): Job[] {
  if (names.length === 0) return [...jobsOf(suites), ...jobsOf([`karpenter@${oldestKarpenter}`])];
  return names.map((name) => {
    const [suite = "", karpenter = newestKarpenter] = name.split("@");
    if (!suites.includes(suite)) {
      process.stderr.write(
        `there is no suite "${name}"; there are: ${suites.join(", ")}, karpenter@VERSION\n`,
      );
      process.exit(2);
    }
    return { title: name, files: [`test/real/${suite}.suite.ts`], karpenter };
  });
}

/** Runs one job in a process group of our own making, so that nothing it started can outlive it. */
async function run(job: Job): Promise<Counts> {
  const folder = join(buildFolder, "runs");
  mkdirSync(folder, { recursive: true });
  const report = join(folder, `${job.title}.json`);
  const pids = join(folder, `${job.title}.pids`);
  for (const file of [report, pids]) rmSync(file, { force: true });
  process.stderr.write(`\n── ${job.title}\n`);
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    "test/real/vitest.config.ts",
    ...job.files,
  ];
  const outputs = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  running = spawn(process.execPath, [...args, ...outputs], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, KARPENTER_VERSION: job.karpenter, KNH_PIDS: pids },
  });
  await new Promise((done) => running?.once("exit", done));
  stopLeftovers(pids);
  return countsOf(report);
}

/** A suite stops what it starts; this is for one that was killed before it could. */
function stopLeftovers(list: string): void {
  for (const line of read(list).split("\n").filter(Boolean)) {
    try {
      const pid = Number(line);
      // Only a child of nobody is a leftover; the number may belong to somebody else by now.
      if (/^PPid:\s1$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) process.kill(pid, "SIGKILL");
    } catch {
      // It is gone, as it should be.
    }
  }
}

function countsOf(report: string): Counts {
  const text = read(report);
  if (text === "") return { passed: 0, failed: 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, success } = JSON.parse(text);
  const failed = Number(numFailedTests);
  // A suite whose set-up failed has no failed test, yet it has failed.
  return {
    passed: Number(numPassedTests),
    failed: failed === 0 && !success ? 1 : failed,
    skipped: Number(numPendingTests),
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

const names = process.argv.slice(2);
if (names.includes("--help") || names.includes("-h")) {
  process.stdout.write(`${help}\n`);
  process.exit(0);
}
let isStopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isStopped = true;
    running?.kill(signal);
  });
}
const total = { passed: 0, failed: 0, skipped: 0 };
for (const job of jobsOf(names)) {
  if (isStopped) break;
  const counts = await run(job);
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 || isStopped ? 1 : 0;
