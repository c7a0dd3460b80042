import * as v from "valibot";
import { EngineError } from "./engine-process.ts";

const amount = v.pipe(v.number(), v.finite());
const byReason = v.optional(v.nullable(v.record(v.string(), amount)), {});

/** What the engine counts from the end of its warm-up. */
const engineResult = v.object({
  karpenter: v.string(),
  launched: amount,
  gone: amount,
  nodeMinutes: amount,
  coreMinutes: amount,
  /** Dollars. */
  price: amount,
  /** Pods of services that were evicted, by any reason; and pods of jobs, which then start over. */
  evicted: amount,
  evictedBy: byReason,
  jobsKilled: amount,
  jobsKilledBy: byReason,
  jobsRun: amount,
  /** Seconds that pods waited for a node. */
  waitMean: amount,
  wait95: amount,
  imagesPulled: amount,
  disruptions: byReason,
  drifted: amount,
  driftSeconds: v.optional(v.nullable(amount)),
  interrupted: amount,
  marks: amount,
  wallSeconds: amount,
});
export type EngineResult = v.InferOutput<typeof engineResult>;

const holderFigures = v.object({
  holds: amount,
  turns: amount,
  calls: amount,
  errors: v.array(v.string()),
});

/** What the holder itself reports about a run. */
export type HolderFigures = v.InferOutput<typeof holderFigures>;

/** One run, as a line of JSON has it. */
const runResult = v.object({
  arm: v.string(),
  karpenter: v.string(),
  trace: v.string(),
  types: v.string(),
  seed: amount,
  ...v.omit(engineResult, ["karpenter"]).entries,
  /** What nobody could do without, in the same units. */
  bounds: v.array(v.object({ launch: amount, eviction: amount, cost: amount })),
  holder: v.optional(holderFigures),
  /** The same for runs of the same inputs. */
  key: v.string(),
  /** The trace in words. */
  about: v.string(),
  lasts: amount,
  version: v.string(),
  date: v.string(),
  machine: v.string(),
});
export type RunResult = v.InferOutput<typeof runResult>;

/** A run in which the holder logged an error proves nothing. */
export const isProof = ({ holder }: RunResult): boolean => (holder?.errors.length ?? 0) === 0;

/** Checks what the engine printed at its end. */
export function parseEngineResult(value: unknown): EngineResult {
  const { success, output, issues } = v.safeParse(engineResult, value);
  if (success) return output;
  throw new EngineError(`the engine's result cannot be used: ${v.summarize(issues)}`);
}

/** A stored line; undefined for one that another version of the lab wrote, or that was cut off. */
export function parseRunResult(line: string): RunResult | undefined {
  try {
    const { success, output } = v.safeParse(runResult, JSON.parse(line));
    return success ? output : undefined;
  } catch {
    return undefined;
  }
}
