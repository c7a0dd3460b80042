import { later, seconds } from "../../lambda/core/duration.ts";
import { parseQuantity } from "../../lambda/kubernetes/quantity.ts";
import { readable } from "../terminal/text.ts";
import { type History, type Launch, type Removal, titled } from "./history.ts";

type Json = Readonly<Record<string, unknown>>;
const json = (value: unknown): Json => Object(value);
const textIn = (value: unknown): string => (typeof value === "string" ? readable(value) : "");
const nameIn = (value: unknown): string => textIn(json(value).name);

/** Replacements are created right after the command that they belong to. */
const soonAfter = seconds(10);

type Command = Readonly<{
  at: Date;
  reason: string;
  /** Names of NodeClaims, or of nodes where the log has no others. */
  nodes: readonly string[];
  pods: number;
  replacements: number;
  /** Names of the NodeClaims that replace them. */
  replacedBy: string[];
}>;

/**
 * Reads Karpenter's log, as JSON lines: launches, and each disruption with its reason and its pods; undefined where no line
 * is of a replica that leads. Lines of several pods may be mixed. A log that is still written ends when it is read, however
 * silent. Several files together may be longer than a text can be.
 */
export function readKarpenterLog(texts: string | readonly string[], readAt?: Date): History | undefined {
  const records = [texts].flat().flatMap((text) => text.split("\n").flatMap(recordIn));
  const inOrder = records.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const first = inOrder.find(({ line }) => isOfLeader(line));
  if (!first) return undefined;
  const claimOf = new Map<string, string>();
  const poolOf = new Map<string, string>();
  const cpuOf = new Map<string, number>();
  const launches = new Map<string, Launch>();
  const ended = new Set<string>();
  const commands: Command[] = [];
  for (const { at, message, fields } of inOrder) {
    const claim = nameIn(fields.NodeClaim);
    const node = nameIn(fields.Node);
    if (claim && node) claimOf.set(node, claim);
    if (claim && fields.NodePool) poolOf.set(claim, nameIn(fields.NodePool));
    if (message.startsWith("disrupting node")) commands.push(commandIn(at, message, fields));
    if (message.startsWith("failed terminating nodes while executing"))
      dropLike(commands, commandIn(at, message, fields));
    if (message === "created nodeclaim") {
      const recent = commands.slice(commands.findLastIndex((one) => !isSoon(one, at)) + 1);
      const waiting = recent.find((one) => one.replacedBy.length < one.replacements);
      waiting?.replacedBy.push(claim);
    }
    if (message === "launched nodeclaim") {
      const instanceType = textIn(fields["instance-type"]);
      launches.set(claim, { node: claim, nodePool: "", at, ...(instanceType && { instanceType }) });
      const cpu = parseQuantity(String(json(fields.allocatable).cpu));
      if (cpu) cpuOf.set(claim, cpu);
    }
    if (message === "deleted nodeclaim") ended.add(claim);
  }
  const poolIn = (claim: string) => poolOf.get(claim) || claim.replace(/-[a-z0-9]{5}$/, "");
  const replacements = new Set(commands.flatMap(({ replacedBy }) => replacedBy));
  const removals = commands.flatMap((command): Removal[] => {
    const claims = command.nodes.map((name) => claimOf.get(name) ?? name);
    const share = shareSaved(claims, command, cpuOf);
    return claims.map((node) => {
      const instanceType = launches.get(node)?.instanceType;
      return {
        ...{ node, nodePool: poolIn(node), at: command.at, reason: command.reason },
        pods: command.pods / claims.length,
        ...(share !== undefined && { share }),
        ...(instanceType && { instanceType }),
      };
    });
  });
  return {
    from: first.at,
    until: inOrder.map(({ at }) => at).reduce(later, readAt ?? first.at),
    launches: [...launches.values()].map((launch) => ({
      ...launch,
      nodePool: poolIn(launch.node),
      ...(replacements.has(launch.node) && { isReplacement: true }),
    })),
    // A command that Karpenter repeats is one removal.
    removals: [...new Map(removals.map((removal) => [removal.node, removal])).values()],
    ended: [...ended],
  };
}

/** A replica that only waits to lead writes what it starts, which may be older than all that the leader's log still has. */
export const isOfLeader = (text: string): boolean =>
  /"(reconcileID|NodeClaim)\\?":|disrupting node|successfully acquired lease/.test(text);

const isSoon = (command: Command, at: Date): boolean => at.getTime() - command.at.getTime() <= soonAfter;

/*
{"level":"INFO","time":"2026-01-31T09:30:00.123Z","logger":"controller","message":"disrupting node(s)","reason":"underutilized",
 "decision":"delete","pod-count":3,"replacement-node-count":0,
 "disrupted-nodes":[{"Node":{"name":"ip-10-0-0-1"},"NodeClaim":{"name":"default-x7k2p"},"instance-type":"m5.large"}]}
*/
function commandIn(at: Date, message: string, fields: Json): Command {
  const listed = fields["disrupted-nodes"];
  // Up to version 1.0 all of it is in the message: "… terminating 1 nodes (2 pods) NAME/TYPE/CAPACITY-TYPE and replacing with …".
  const nodes = Array.isArray(listed)
    ? listed.map((one) => nameIn(json(one).NodeClaim) || nameIn(json(one).Node))
    : [...message.matchAll(/([\w.-]+)\/[\w.-]+\/(?:on-demand|spot|reserved)/g)].map(([, name = ""]) => name);
  const pods = fields["pod-count"] ?? /\((\d+) pods\)/.exec(message)?.[1];
  const replacements = fields["replacement-node-count"] ?? (message.includes("replacing with") ? 1 : 0);
  const [reason = ""] = textIn(fields.reason ?? fields.command).split("/", 1);
  return {
    at,
    reason: titled(reason),
    nodes,
    pods: Number(pods ?? 0),
    replacements: Number(replacements),
    replacedBy: [],
  };
}

/** Karpenter gave the command up; it decides the same one again later. */
function dropLike(commands: Command[], { nodes }: Command): void {
  const at = commands.findLastIndex((one) => String(one.nodes) === String(nodes));
  if (at >= 0) commands.splice(at, 1);
}

/** Unknown where the size of a node is. */
function shareSaved(nodes: readonly string[], command: Command, cpuOf: ReadonlyMap<string, number>) {
  if (command.replacements === 0) return 1;
  const sum = (names: readonly string[]) =>
    names.reduce((all, name) => all + (cpuOf.get(name) ?? Number.NaN), 0);
  const [before, after] = [sum(nodes), sum(command.replacedBy)];
  const share = 1 - after / before;
  return command.replacedBy.length === command.replacements && share >= 0 ? share : undefined;
}

type LogRecord = Readonly<{ line: string; at: Date; message: string; fields: Json }>;

/** One line; a prefix before it, and a collector's record around it, are taken off. */
function recordIn(line: string): LogRecord[] {
  const begin = line.indexOf("{");
  if (begin < 0) return [];
  try {
    const outer = json(JSON.parse(line.slice(begin)));
    const fields = typeof outer.log === "string" ? json(JSON.parse(outer.log)) : outer;
    const { message } = fields;
    const at = new Date(String(fields.time));
    return typeof message === "string" && !Number.isNaN(at.getTime()) ? [{ line, at, message, fields }] : [];
  } catch {
    return [];
  }
}
