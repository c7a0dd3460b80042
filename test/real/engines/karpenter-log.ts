import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../worlds/world.ts";

/** A disruption command of Karpenter: its nodes and its reason, `empty`, `underutilized` or `drifted`. */
export type Command = Readonly<{ reason: string; nodes: readonly string[] }>;

/** The disruption commands in Karpenter's log. */
export const commandsOf = (world: World): readonly Command[] =>
  commandsIn(readFileSync(join(world.plane.folder, "karpenter.log"), "utf8"));

/**
 * Without those that Karpenter gave up: in a static pool it may delete a replacement at once, as one NodeClaim too many,
 * and decide the same command again a minute later.
 */
export function commandsIn(log: string): readonly Command[] {
  const commands: Command[] = [];
  for (const line of log.split("\n")) {
    if (line.includes('"message":"disrupting node')) commands.push(readCommand(line));
    if (!line.includes('"message":"failed terminating nodes while executing a disruption command"')) continue;
    const { nodes } = readCommand(line);
    const givenUp = commands.findLastIndex((command) => String(command.nodes) === String(nodes));
    if (givenUp >= 0) commands.splice(givenUp, 1);
  }
  return commands;
}

function readCommand(line: string): Command {
  const { message, reason, command, ...rest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const disrupted = rest["disrupted-nodes"];
  // Version 1.0 has all of it in the message: "… terminating 1 nodes (0 pods) NAME/TYPE/CAPACITY-TYPE and replacing with …".
  const nodes = Array.isArray(disrupted)
    ? disrupted.map((one) => String(one.Node.name))
    : [...String(message).matchAll(/([\w.-]+)\/[\w.-]+\/(?:on-demand|spot)/g)].map(([, name = ""]) => name);
  return {
    reason: String(reason ?? command)
      .split("/", 1)
      .join()
      .toLowerCase(),
    nodes,
  };
}
