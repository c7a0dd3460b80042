import { PassThrough } from "node:stream";
import { type GuardedOptions, spawnGuarded } from "../../support/guarded.ts";
import { until } from "../engines/processes.ts";

const graceMs = 10_000;

type Options = Readonly<{ stdio: GuardedOptions["stdio"]; cwd: string; env?: NodeJS.ProcessEnv }>;

/** Runs our Node in its own process group; all its processes end with it, and when this process ends. */
export async function runGroup(
  args: readonly string[],
  options: Options,
  stopped: AbortSignal,
): Promise<Readonly<{ code: number | null; output: string }>> {
  // Ctrl-C reaches it only through this process.
  const child = spawnGuarded(process.execPath, args, { ...options, group: true });
  const chunks: Buffer[] = [];
  const out = new PassThrough().on("data", (chunk: Buffer) => chunks.push(chunk));
  for (const stream of [child.stdout, child.stderr]) stream?.pipe(out, { end: false });
  const gone = new Promise<number | null>((done) => child.once("close", done));
  const killAll = () => signalGroup(child.pid, "SIGKILL");
  const end = () => {
    signalGroup(child.pid, "SIGTERM");
    setTimeout(killAll, graceMs).unref();
  };
  if (stopped.aborted) end();
  stopped.addEventListener("abort", end, { once: true });
  child.once("exit", killAll);
  const code = await gone;
  await until("its processes to end", async () => !signalGroup(child.pid, 0), graceMs);
  stopped.removeEventListener("abort", end);
  return { code, output: Buffer.concat(chunks).toString() };
}

/** Whether a process of the group was still running. */
function signalGroup(leader: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (leader === undefined) return false;
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}
