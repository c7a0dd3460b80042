import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../worlds/world.ts";

/** A disruption command of Karpenter: its nodes and its reason, `empty`, `underutilized` or `drifted`. */
export type Command = Readonly<{ reason: string; nodes: readonly string[] }>;

/** The disruption commands that Karpenter has logged, also those that it gave up. */
export const commandsOf = (world: World): readonly Command[] =>
  readFileSync(join(world.plane.folder, "karpenter.log"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"message":"disrupting node'))
    .map(readCommand);

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
