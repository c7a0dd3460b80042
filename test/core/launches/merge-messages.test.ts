import { expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { mergeLaunches, mergePendingNodes } from "../../../lambda/core/launches/merge-messages.ts";
import { probesToAnswer } from "../../../lambda/handlers/hold.ts";
import { noon } from "../../../simulator/virtual-clock.ts";

const launch = (instance: string, launchedAt = noon) => ({ instance, launchedAt });

it("merges new launches, and retried launches by their attempt", () => {
  const late = after(noon, minutes(1));
  const followUp = (attempt: number, firstSeenAt: Date, instance: string) => ({
    kind: "launches" as const,
    attempt,
    firstSeenAt,
    launches: [launch(instance)],
  });

  const batches = mergeLaunches(
    [launch("i-1"), launch("i-1", late)],
    [followUp(2, noon, "i-2"), followUp(2, late, "i-3"), followUp(3, noon, "i-4")],
    late,
  );

  expect(batches).toEqual([
    { attempt: 0, firstSeenAt: late, launches: [launch("i-1", late)] },
    { attempt: 2, firstSeenAt: late, launches: [launch("i-2"), launch("i-3")] },
    { attempt: 3, firstSeenAt: noon, launches: [launch("i-4")] },
  ]);
});

it("makes no empty batch, and keeps the two kinds of follow-ups apart", () => {
  const pending = { kind: "pendingNodes", scope: "cluster", attempt: 1, awaited: [] } as const;
  const launches = { kind: "launches", attempt: 1, firstSeenAt: noon, launches: [launch("i-1")] } as const;

  expect(mergeLaunches([], [pending], noon)).toEqual([]);
  expect(mergePendingNodes([launches], noon)).toEqual([]);
});

it("counts a duplicate at its later time, whichever comes first", () => {
  const late = after(noon, minutes(1));

  const [batch] = mergeLaunches([launch("i-1", late), launch("i-1")], [], late);

  expect(batch?.launches).toEqual([launch("i-1", late)]);
});

it("moves times in the future back, so that every follow-up ends", () => {
  const future = after(noon, hours(24));
  const launches = [launch("i-1", future)];

  const [batch] = mergeLaunches([], [{ kind: "launches", attempt: 1, firstSeenAt: future, launches }], noon);
  const [pending] = mergePendingNodes(
    [{ kind: "pendingNodes", scope: "cluster", attempt: 1, awaited: launches }],
    noon,
  );

  expect(batch?.firstSeenAt).toEqual(noon);
  expect(pending?.awaited).toEqual([launch("i-1", after(noon, minutes(1)))]);
});

it("checks each scope once, with the lowest attempt of its messages", () => {
  const pending = (attempt: number, instance: string) => ({
    kind: "pendingNodes" as const,
    scope: "cluster" as const,
    attempt,
    awaited: [launch(instance)],
  });

  expect(mergePendingNodes([pending(4, "i-1"), pending(2, "i-2")], noon)).toEqual([
    { kind: "pendingNodes", scope: "cluster", attempt: 2, awaited: [launch("i-1"), launch("i-2")] },
  ]);
});

it("answers only the newest probes, and none whose sender has stopped waiting", () => {
  const probes = [1, 11, 0, 2].map((ago) => ({ queuedAt: after(noon, -minutes(ago)) }));

  expect(probesToAnswer(probes, noon)).toEqual([{ queuedAt: noon }, { queuedAt: after(noon, -minutes(1)) }]);
  expect(probesToAnswer([{ queuedAt: after(noon, -minutes(10)) }], noon)).toEqual([]);
});
