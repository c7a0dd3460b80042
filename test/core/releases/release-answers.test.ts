import { expect, it } from "vitest";
import { forceRelease } from "../../../lambda/core/releases/force-release.ts";
import { nothingReleased, releaseNodes, sum } from "../../../lambda/core/releases/release-nodes.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const pool = "nodepool/batch" as const;

it("adds releases up", () => {
  const one = { released: 1, kept: 2, failed: 3, left: false };
  expect(sum(one, { released: 10, kept: 20, failed: 30, left: false })).toEqual({
    released: 11,
    kept: 22,
    failed: 33,
    left: false,
  });
  expect(sum(one, { ...nothingReleased, left: true }).left).toBe(true);
  expect(sum({ ...one, left: true }, nothingReleased).left).toBe(true);
});

it("answers that nothing was released by a one-shot of another hold, and why", async () => {
  const { context } = coreWorld({ records: [aRecord({ hold: aHold({ id: holdId(2) }) })] });
  const answer = await releaseNodes(context, "cluster", holdId(1));
  expect(answer).toEqual({ ...nothingReleased, because: expect.stringMatching(/./) });
});

it.each<[string, Parameters<typeof coreWorld>[0], object]>([
  ["nothing is held", {}, { ...nothingReleased, because: "nothing is held" }],
  [
    "one hold runs, though it marked nothing",
    { records: [aRecord({ hold: aHold() })] },
    { ...nothingReleased, because: "released by hand: test" },
  ],
  [
    "holds of two scopes run",
    {
      records: [aRecord({ hold: aHold() }), aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) })],
      released: { released: 3, kept: 1 },
    },
    { released: 6, kept: 2, failed: 0, left: false, because: "released by hand: test" },
  ],
])("answers a release by force where %s", async (_, world, answer) => {
  const { context } = coreWorld(world);
  const nodes = { ...context.nodes, marks: async () => new Map() };
  expect(await forceRelease({ ...context, nodes }, { reason: "test" })).toEqual(answer);
});

it.each([
  [pool, [holdId(2)]],
  ["cluster", [holdId(1), holdId(2)]],
] as const)(
  "ends the hold of the NodePool that is named, or all of them for the whole cluster: %s",
  async (scope, ids) => {
    const other = aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) });
    const { context, calls } = coreWorld({ records: [aRecord({ hold: aHold() }), other] });
    const nodes = { ...context.nodes, marks: async () => new Map() };
    await forceRelease({ ...context, nodes }, { reason: "test", scope });
    expect(calls.filter(([call]) => call === "release")).toEqual(ids.map((id) => ["release", id]));
  },
);

it("passes on an error that is no unreadable record", async () => {
  const { context } = coreWorld();
  const holds = { ...context.holds, find: () => Promise.reject(new Error("throttled")) };
  const failed = forceRelease({ ...context, holds }, { reason: "test" });
  await expect(failed).rejects.toThrow("throttled");
});
