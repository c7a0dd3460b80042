import {
  buildControlPlane,
  buildFolder,
  buildKarpenter,
  buildKubelet,
  buildPython,
  oldestKarpenter,
} from "./build.ts";
import { type Job, jobsOf, suites, UsageError } from "./jobs.ts";
import { ownCluster } from "./own-cluster.ts";
import { freshRunFolder } from "./run-folder.ts";
import { type Counts, runJob } from "./run-job.ts";

const help = `Proves the holder on real engines, which are built once into ${buildFolder}.

usage: npm run test:real [-- SUITE …]

  ${suites.join("\n  ")}
  karpenter@VERSION   the Karpenter suite on another version, for example karpenter@${oldestKarpenter}

Without a suite all are run, and the Karpenter suite also on ${oldestKarpenter}, the oldest v1 that builds here.
With KUBECONFIG set, \`contracts\` runs on that cluster, after asking. Needs Go, Python and Java. KNH_BUILD=FOLDER builds elsewhere.
`;

const say = (line: string) => process.stderr.write(`${line}\n`);

/** Suites build what they find missing; here it is done first, so that it can be watched. */
async function build({ suite, karpenter }: Job): Promise<void> {
  await buildControlPlane();
  if (["karpenter", "deployed", "truth-table"].includes(suite)) {
    await buildKubelet();
    await buildKarpenter(karpenter);
  }
  if (suite === "deployed" || suite === "faults") await buildPython("emulator");
}

async function runAll(jobs: readonly Job[], stopped: AbortSignal, env: NodeJS.ProcessEnv): Promise<Counts> {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const folder = freshRunFolder();
  for (const job of jobs) {
    if (stopped.aborted) break;
    say(`\n── ${job.title}`);
    const counts = await buildAndRun(job, folder, stopped, env);
    for (const key of ["passed", "failed", "skipped"] as const) total[key] += counts[key];
  }
  say(`\nlogs of the engines: ${folder}`);
  return total;
}

async function buildAndRun(
  job: Job,
  folder: string,
  stopped: AbortSignal,
  env: NodeJS.ProcessEnv,
): Promise<Counts> {
  try {
    await build(job);
  } catch (error) {
    say(`${job.title} could not be built: ${messageOf(error)}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  return runJob(job, folder, stopped, env);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function main(names: readonly string[]): Promise<number> {
  if (names.includes("--help") || names.includes("-h")) {
    process.stdout.write(help);
    return 0;
  }
  const jobs = jobsOf(names);
  const cluster = await ownCluster(names);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  const { passed, failed, skipped } = await runAll(
    jobs,
    stop.signal,
    cluster ? { KNH_OWN_CLUSTER: cluster } : {},
  );
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
  return failed > 0 || stop.signal.aborted ? 1 : 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(messageOf(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
