import { PassThrough } from "node:stream";
import { type GuardedOptions, spawnGuarded } from "../../support/guarded.ts";
import { until } from "../engines/processes.ts";

const graceMs = 10_000;

type Options = Readonly<{ stdio: GuardedOptions["stdio"]; cwd: string; env?: NodeJS.ProcessEnv }>;

/** Runs our Node in a process group of its own; when it ends or is stopped, so does whatever it started, however we end. */
export async function runGroup(
  args: readonly string[],
  options: Options,
  stopped: AbortSignal,
): Promise<Readonly<{ code: number | null; output: string }>> {
  // Ctrl-C reaches it through us alone.
  const child = spawnGuarded(process.execPath, args, { ...options, group: true });
  const said: Buffer[] = [];
  const out = new PassThrough().on("data", (chunk: Buffer) => said.push(chunk));
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
  await until("all it started to be gone", async () => !signalGroup(child.pid, 0), graceMs);
  stopped.removeEventListener("abort", end);
  return { code, output: Buffer.concat(said).toString() };
}

/** Whether anybody of the group was there to hear it. */
function signalGroup(leader: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (leader === undefined) return false;
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}
