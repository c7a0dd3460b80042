import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseStatus } from "../../../cli/answers.ts";
import type { Ask } from "../../../cli/control/client.ts";
import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import { messageOf } from "../../../lambda/core/errors.ts";
import type { Check, Row, Smoke } from "../smoke.ts";
import { judged, notLookedAt } from "../smoke.ts";
import { analyse, criteria, textOf } from "./criteria.ts";
import { type NodeSeen, readSamples, recordSeen, type Sample } from "./samples.ts";

/** What both recorders look at; neither knows of the other. */
export type Sources = Readonly<{
  /** Our record, by the control function. */
  ask: Ask;
  /** The cluster itself, by a kubeconfig of the operator. */
  nodes: () => Promise<readonly NodeSeen[]>;
}>;

/** One sample of a recorder; a look that fails is written down, too. */
export async function lookAt(
  recorder: "record" | "nodes",
  { ask, nodes }: Sources,
  at: Date,
): Promise<Sample> {
  try {
    if (recorder === "nodes") return { kind: "nodes", at, nodes: [...(await nodes())] };
    return { kind: "record", at, scopes: [...recordSeen(parseStatus(await ask({ do: "status" })))] };
  } catch (error) {
    return { kind: "failure", at, recorder, message: messageOf(error) };
  }
}

export const beginning = (cluster: string, every: Duration, at: Date): Sample => ({
  ...{ kind: "begin", at, cluster, every },
  criteria: criteria.map(textOf),
});

/** A mark that must go has two minutes for it. */
const afterRelease: Duration = minutes(3);

/** Records for as long as asked, ends what holds, and records how that ends. */
export const recordingCheck: Check = {
  assumption: "two recorders write a ledger",
  expected: "for as long as --for says",
  look: async ({ smoke, ask, view, ledger }) => {
    if (!ledger || !view) return notLookedAt("it needs --ledger");
    const { file, lasts, every } = ledger;
    const options = { ask, nodes: () => view.nodes(), every };
    const write = (sample: Sample) => appendFileSync(file, `${JSON.stringify(sample)}\n`);
    smoke.report(`recording into ${file}; scale something up and down, or apply lab/smoke/ledger/work.yaml`);
    write(beginning(smoke.cluster, every, new Date()));
    const isWhole = await record(smoke, options, lasts, write);
    await ask({ do: "release", reason: "the end of the ledger" });
    await record(smoke, options, afterRelease, write);
    write({ kind: "end", at: new Date() });
    return judged(isWhole, isWhole ? file : `stopped early: ${file}`);
  },
};

/** Returns whether it was not stopped. */
async function record(
  { signal }: Smoke,
  options: Sources & Readonly<{ every: Duration }>,
  lasts: Duration,
  write: (sample: Sample) => void,
): Promise<boolean> {
  const end = Date.now() + lasts;
  const wasStopped = signal.aborted;
  const loop = async (recorder: "record" | "nodes") => {
    for (let next = Date.now(); next < end && (wasStopped || !signal.aborted); next += options.every) {
      await sleep(Math.max(0, next - Date.now()), undefined, wasStopped ? {} : { signal }).catch(() => {});
      write(await lookAt(recorder, options, new Date()));
    }
  };
  await Promise.all([loop("record"), loop("nodes")]);
  return !signal.aborted;
}

/** The verdict on each criterion, from the file alone. */
export function verdictsIn(file: string): readonly Row[] {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  return analyse(readSamples(readFileSync(file, "utf8")));
}
