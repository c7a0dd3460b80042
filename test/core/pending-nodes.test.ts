import { expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { awaitPendingNodes } from "../../lambda/core/launches/pending-nodes.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { until } from "../support/context.ts";

const nothing = { marked: 0, adopted: 0, userHeld: 0, failed: 0, left: true, seen: [] };

it.each([
  ["at once while it makes progress", { ...nothing, marked: 7 }, 0],
  ["after a while when it makes none: the API server asks for patience", nothing, seconds(15)],
])("marking that ran out of time continues %s", async (_, marked, delay) => {
  const world = new World();
  const delays: number[] = [];
  const followUps = { enqueue: async (_followUp: unknown, by: number) => void delays.push(by) };
  const context = { ...world.ports, ...until(new Date(noon.getTime() + minutes(1))), followUps };

  await awaitPendingNodes(context, { scope: "cluster", awaited: [], attempt: 0 }, marked);

  expect(delays).toEqual([delay]);
});
