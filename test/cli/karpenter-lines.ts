import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";

/** A minute of the scaled day. */
export const at = (minute: number): Date => after(noon, minutes(minute));

export const line = (time: Date, message: string, fields: object = {}): string =>
  JSON.stringify({ level: "INFO", time, logger: "controller", message, commit: "1a2b3c4", ...fields });
const claim = (name: string) => ({ NodeClaim: { name } });

/** What Karpenter 1.15 logs of a launch. */
export const launched = (name: string, minute: number, cpu = "7910m"): readonly string[] => {
  const nodePool = { NodePool: { name: name.replace(/-[a-z0-9]{5}$/, "") } };
  const instance = { "provider-id": `aws:///eu-central-1a/i-${name}`, "instance-type": "m5.2xlarge" };
  return [
    line(at(minute), "created nodeclaim", { ...nodePool, ...claim(name), requests: { cpu: "3" } }),
    line(after(at(minute), seconds(2)), "launched nodeclaim", {
      ...claim(name),
      ...instance,
      allocatable: { cpu, memory: "30Gi" },
    }),
    line(after(at(minute), seconds(40)), "registered nodeclaim", {
      ...claim(name),
      Node: { name: `node-${name}` },
    }),
  ];
};

type Command = Readonly<{ reason?: string; pods?: number; replacements?: number }>;

/** What it logs of a disruption. */
export const disrupted = (
  names: readonly string[],
  minute: number,
  { reason = "underutilized", pods = 0, replacements = 0 }: Command = {},
): string =>
  line(at(minute), "disrupting node(s)", {
    command: `${reason}/0a1b: delete: nodepools=[default]: [${names}] (savings: $0.38)`,
    ...{ decision: replacements > 0 ? "replace" : "delete", "disrupted-node-count": names.length },
    ...{ "replacement-node-count": replacements, "pod-count": pods },
    "disrupted-nodes": names.map((name) => ({
      ...{ Node: { name: `node-${name}` }, NodeClaim: { name } },
      ...{ "instance-type": "m5.2xlarge", "capacity-type": "on-demand" },
    })),
  });

export const deleted = (name: string, minute: number): string =>
  line(at(minute), "deleted nodeclaim", { ...claim(name), Node: { name: `node-${name}` } });

export const gaveUp = (names: readonly string[], minute: number): string =>
  disrupted(names, minute).replace(
    "disrupting node(s)",
    "failed terminating nodes while executing a disruption command",
  );

/** What version 1.0 logs of a disruption: all of it is in the message. */
export const disruptedBefore1_1 = (node: string, minute: number, replaced = false): string => {
  const end = replaced ? " and replacing with on-demand node from types m5.large, c5.large" : "";
  const text = `disrupting nodeclaim(s) via delete, terminating 1 nodes (2 pods) ${node}/m5.2xlarge/on-demand${end}`;
  return line(at(minute), text, { "command-id": "0a1b", reason: "underutilized" });
};

const letters = "bcdfghjklm";
/** The name of the nth NodeClaim of a NodePool. */
export const nth = (n: number, nodePool = "default"): string =>
  `${nodePool}-${String(n)
    .padStart(5, "0")
    .replaceAll(/\d/g, (digit) => letters[Number(digit)] ?? "x")}`;

/** Every so many minutes a node is launched, and removed with its pods five minutes later. */
export const churn = (times: number, { every = 10, pods = 4, first = 0 } = {}): readonly string[] =>
  Array.from({ length: times }, (_, i) => [
    ...launched(nth(first + i), i * every),
    disrupted([nth(first + i)], i * every + 5, { pods }),
    deleted(nth(first + i), i * every + 6),
  ]).flat();
