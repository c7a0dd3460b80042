import { expect, it } from "vitest";
import { after, seconds } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { ManagedNode } from "../../lambda/core/marks/plan-marks.ts";
import { OutOfTimeError } from "../../lambda/kubernetes/client.ts";
import { releaseAll } from "../../lambda/kubernetes/release-all.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

type Outcome = "released" | "kept" | "gone" | "failed" | "left";
const [h1, h2, h3, h4] = [holdId(1), holdId(2), holdId(3), holdId(4)] as const;
const none = { released: 0, kept: 0, failed: 0, left: false };

/** Releases h1, h2 and h4; a node is named for its outcome, and comes when the one before is done. */
async function play(
  list: readonly (readonly [Outcome, string?])[],
  { end = after(noon, seconds(60)), error = undefined as unknown } = {},
) {
  const tried: Outcome[] = [];
  const deadlines = new Set<Date>();
  async function* nodes(): AsyncGenerator<ManagedNode> {
    for (const [name, label] of list) {
      await new Promise((resolve) => setImmediate(resolve));
      const labels = label === undefined ? {} : { labels: { [holdLabel]: label } };
      yield { name, uid: name, createdAt: noon, version: "1", writers: [], ...labels };
    }
    if (error) throw error;
  }
  const release = async ({ name }: ManagedNode, _: string, { deadline }: { deadline: Date }) => {
    tried.push(name as Outcome);
    deadlines.add(deadline);
    return name as Outcome;
  };
  const options = { holdIds: new Set([h1, h2, h4]), release, clock: new VirtualClock() };
  return { ...(await releaseAll(nodes(), options, until(end))), tried, deadlines };
}

it("counts what became of each hold's nodes, and the nodes of all other holds", async () => {
  const result = await play([
    ["released", h1],
    ["kept", h1],
    ["failed", h1],
    ["gone", h1],
    ["left", h2],
    ["gone", h4],
    ["released", h3],
    ["released", h3],
    ["released", "never"],
    ["released"],
  ]);
  expect(result.released).toEqual(
    new Map([
      [h1, { released: 1, kept: 1, failed: 1, left: false }],
      [h2, { ...none, left: true }],
      [h4, none],
    ]),
  );
  expect(result.others).toEqual(new Map([[h3, 2]]));
  expect(result.left).toBe(false);
});

it("leaves the nodes of a hold after five that could not be changed, and not those of other holds", async () => {
  const troubled = (["failed", "left", "kept", "failed", "left", "failed", "failed"] as const).map(
    (outcome) => [outcome, h1] as const,
  );
  const { released, tried } = await play([...troubled, ["released", h2]]);
  expect(tried).toEqual(["failed", "left", "kept", "failed", "left", "failed", "released"]);
  expect(released.get(h1)).toEqual({ released: 0, kept: 1, failed: 3, left: true });
});

it.each([
  [60, 15],
  [7, 7],
])("gives a node at most 15 seconds: %i s left, %i s for a node", async (left, expected) => {
  const { deadlines } = await play([["released", h1]], { end: after(noon, seconds(left)) });
  expect([...deadlines]).toEqual([after(noon, seconds(expected))]);
});

it("reports what it did until the time was over", async () => {
  const result = await play(
    [
      ["released", h1],
      ["kept", h3],
    ],
    { error: new OutOfTimeError("over") },
  );
  expect(result).toMatchObject({
    released: new Map([[h1, { ...none, released: 1 }]]),
    others: new Map([[h3, 1]]),
    left: true,
  });
});

it("fails with the list", async () => {
  await expect(play([], { error: new Error("no list") })).rejects.toThrow("no list");
});
