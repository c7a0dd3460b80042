import { readFileSync } from "node:fs";
import { BadInputError } from "../../lambda/core/errors.ts";
import { fileProblem } from "../../local/file-problem.ts";
import { fileText } from "../file-text.ts";
import { about } from "../terminal/text.ts";
import type { History } from "./history.ts";
import { readKarpenterLog } from "./karpenter-log.ts";
import { type ClusterFacts, isMissing, lists, type Read } from "./read.ts";

/** One source and what came of it. */
export type Source = Readonly<{ name: string; read: string }>;

/** Reads saved logs of Karpenter, together. */
export function readLogs(paths: readonly string[]): History {
  const history = readKarpenterLog(paths.map(textOf));
  if (history) return history;
  throw new BadInputError(unusable, [
    `${paths.join(", ")} has no line of a Karpenter that leads as JSON, like {"level":"INFO","time":"…","message":"launched nodeclaim", …}`,
  ]);
}

const unusable = "This log cannot be used";

function textOf(path: string): string {
  try {
    return fileText(readFileSync(path));
  } catch (error) {
    throw new BadInputError(unusable, [`${path}: ${fileProblem(error)}`]);
  }
}

/** What could be read of a cluster, and why something could not. */
export function sourcesOf(facts: ClusterFacts, history: History | undefined): readonly Source[] {
  const { log, metrics, karpenter } = facts;
  const source = <T>(name: string, found: Read<T>, describe: (found: T) => string): Source => ({
    ...{ name, read: isMissing(found) ? `no: ${found.missing}` : describe(found) },
  });
  return [
    ...kinds.map((kind) =>
      source(lists[kind][0], facts[kind], (all: readonly unknown[]) => String(all.length)),
    ),
    source("Karpenter's log", log, () => (history ? describeLog(history) : "no: it has no JSON lines")),
    source("its metrics", metrics, () => "its counters since its start"),
    source("its version", karpenter, (minor) => `1.${minor}`),
  ];
}

const kinds = Object.keys(lists) as (keyof typeof lists)[];

export const describeLog = ({ from, until }: History): string =>
  `${about(until.getTime() - from.getTime())} of it, to ${until.toISOString().slice(0, 16)}Z`;

/** What findings are drawn from and could not be read. */
export const unreadIn = (facts: ClusterFacts): readonly string[] =>
  kinds
    .filter((kind) => kind !== "jobs" && kind !== "events" && isMissing(facts[kind]))
    .map((kind) => lists[kind][0]);
