import { expect, it } from "vitest";
import { commandsIn } from "../real/engines/karpenter-log.ts";

const line = (message: string, node: string) =>
  JSON.stringify({
    message,
    command: "Drifted/6053: replace",
    "disrupted-nodes": [{ Node: { name: node } }],
  });
const decided = (node: string) => line("disrupting node(s)", node);
const gaveUp = (node: string) => line("failed terminating nodes while executing a disruption command", node);

it.each([
  ["that was carried out counts", [decided("a"), decided("b")], ["a", "b"]],
  ["that was given up and decided again counts once", [decided("a"), gaveUp("a"), decided("a")], ["a"]],
  [
    "that was given up does not count, while another one does",
    [decided("b"), decided("a"), gaveUp("b")],
    ["a"],
  ],
  ["that was carried out after another was given up counts", [gaveUp("b"), decided("a")], ["a"]],
])("a disruption command %s", (_, log, nodes) => {
  const expected = nodes.map((node) => ({ reason: "drifted", nodes: [node] }));
  expect(commandsIn(log.join("\n"))).toEqual(expected);
});
