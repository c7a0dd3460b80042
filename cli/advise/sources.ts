import { readFileSync } from "node:fs";
import { BadInputError } from "../../lambda/core/errors.ts";
import { about } from "../terminal/text.ts";
import type { History } from "./history.ts";
import { readKarpenterLog } from "./karpenter-log.ts";
import { type ClusterFacts, isMissing } from "./read.ts";

/** One source and what came of it. */
export type Source = Readonly<{ name: string; read: string }>;

/** Reads saved logs of Karpenter, together. */
export function readLogs(paths: readonly string[]): History {
  const history = readKarpenterLog(paths.map((path) => readFileSync(path, "utf8")).join("\n"));
  if (history) return history;
  throw new BadInputError("This log cannot be used", [
    `${paths.join(", ")} has no line of Karpenter as JSON, like {"level":"INFO","time":"…","message":"launched nodeclaim", …}`,
  ]);
}

/** What could be read of a cluster, and why something could not. */
export function sourcesOf(facts: ClusterFacts, log: History | undefined): readonly Source[] {
  const counted = ["nodePools", "nodeClaims", "nodes", "pods", "pdbs", "jobs", "events"] as const;
  const names = {
    nodePools: "NodePools",
    nodeClaims: "NodeClaims",
    pdbs: "PodDisruptionBudgets",
    jobs: "Jobs",
  };
  const not = (missing: string) => `no: ${missing}`;
  return [
    ...counted.map((kind) => {
      const value = facts[kind];
      return {
        name: kind in names ? names[kind as keyof typeof names] : kind,
        read: isMissing(value) ? not(value.missing) : String(value.length),
      };
    }),
    {
      name: "Karpenter's log",
      read: isMissing(facts.log)
        ? not(facts.log.missing)
        : log
          ? describeLog(log)
          : not("it has no JSON lines"),
    },
    {
      name: "its metrics",
      read: isMissing(facts.metrics) ? not(facts.metrics.missing) : "its counters since its start",
    },
    {
      name: "its version",
      read: isMissing(facts.karpenter) ? not(facts.karpenter.missing) : `1.${facts.karpenter}`,
    },
  ];
}

export const describeLog = ({ from, until }: History): string =>
  `${about(until.getTime() - from.getTime())} of it, to ${until.toISOString().slice(0, 16)}Z`;

/** What findings are drawn from and could not be read. */
export const unreadIn = (facts: ClusterFacts): readonly string[] =>
  sourcesOf(facts, undefined)
    .slice(0, 5)
    .filter(({ read }) => read.startsWith("no:"))
    .map(({ name }) => name);
