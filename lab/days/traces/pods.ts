import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import * as v from "valibot";
import { textIn } from "../../../cli/file-text.ts";
import { BadInputError } from "../../../lambda/core/errors.ts";
import type { Job, Trace } from "./trace.ts";
import { day } from "./work.ts";

/** Which part of the file is played, in seconds of its own time. */
export type Part = Readonly<{ from: number; lasts: number }>;

export const columns = ["scheduled_s", "deleted_s", "cpu_milli", "memory_mib"] as const;
const whole = v.pipe(v.string(), v.regex(/^\d{1,12}$/), v.transform(Number));
const rowSchema = v.object({
  scheduled_s: whole,
  deleted_s: whole,
  cpu_milli: whole,
  /** An empty cell is a pod that requests no memory. */
  memory_mib: v.optional(v.union([whole, v.pipe(v.literal(""), v.transform(Number))]), "0"),
});
type Row = v.InferOutput<typeof rowSchema>;

/** The longest part that can be played in one run. */
export const longestPart = 14 * day;

/** Reads a list of pods that really ran, line by line. Each becomes a job; one that ran before the part began runs for the rest. */
export async function traceOfPods(
  file: string,
  { from, lasts }: Part,
  notify: (line: string) => void = () => {},
): Promise<Trace> {
  const jobs: Job[] = [];
  let withoutCpu = 0;
  for await (const { row, line } of rowsOf(file)) {
    const begin = Math.max(row.scheduled_s, from);
    if (row.deleted_s <= begin || begin >= from + lasts) continue;
    if (row.cpu_milli > 0) jobs.push(jobOf(row, line, from));
    else withoutCpu += 1;
  }
  const leftOut = withoutCpu > 0 ? [`pods with cpu_milli 0 are left out: ${withoutCpu}`] : [];
  if (jobs.length === 0)
    throw new BadInputError(file, [
      `no pod ran between second ${from} and ${from + lasts} of the file`,
      ...leftOut,
    ]);
  for (const line of leftOut) notify(`${file}: ${line}`);
  return {
    about: `${jobs.length} pods of a file that ran between second ${from} and ${from + lasts} of it`,
    lasts,
    services: [],
    jobs: jobs.toSorted((a, b) => a.at - b.at),
    daemons: [],
    drifts: [],
    interruptions: [],
  };
}

/** When the first pod of the file was scheduled, and when the last one was deleted. */
export async function spanOf(file: string): Promise<Readonly<{ first: number; last: number }>> {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for await (const { row } of rowsOf(file)) {
    first = Math.min(first, row.scheduled_s);
    last = Math.max(last, row.deleted_s);
  }
  if (first === Number.POSITIVE_INFINITY) throw new BadInputError(file, ["it lists no pods"]);
  return { first, last };
}

function jobOf({ scheduled_s, deleted_s, cpu_milli, memory_mib }: Row, line: number, from: number): Job {
  const begin = Math.max(scheduled_s, from);
  return {
    name: `pod-${line}`,
    at: begin - from,
    runs: deleted_s - begin,
    cpu: cpu_milli / 1_000,
    ...(memory_mib > 0 && { memory: `${memory_mib}Mi` }),
    image: "batch",
  };
}

async function* rowsOf(file: string): AsyncGenerator<Readonly<{ row: Row; line: number }>> {
  const lines = createInterface({ input: Readable.from(textIn(file)), crlfDelay: Number.POSITIVE_INFINITY });
  let names: readonly string[] | undefined;
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (names === undefined) {
      names = text.split(",").map((name) => name.trim());
      continue;
    }
    if (text.trim() === "") continue;
    const cells = text.split(",").map((cell, i) => [names?.[i] ?? "", cell.trim()] as const);
    const { success, output } = v.safeParse(rowSchema, Object.fromEntries(cells));
    if (!success)
      throw new BadInputError(file, [
        `line ${line} must have whole numbers as ${columns.slice(0, 3).join(", ")} and perhaps ${columns[3]}; the first line must name the columns`,
      ]);
    yield { row: output, line };
  }
}
