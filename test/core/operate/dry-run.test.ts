import { expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { dryRunOf } from "../../../lambda/core/operate/dry-run.ts";
import type { Ports } from "../../../lambda/core/ports.ts";
import type { CollectedLog } from "../../../simulator/collected-log.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aPastHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

/** A port of which every call answers with its own name and arguments, and is noted. */
const echo = <P extends object>(calls: string[]): P =>
  new Proxy({} as P, {
    get:
      (_, name) =>
      (...args: unknown[]) => {
        calls.push(String(name));
        return [name, ...args];
      },
  });

function dryRun() {
  const calls: string[] = [];
  const { context } = coreWorld();
  const outside: Pick<Ports, "journal" | "schedules" | "followUps" | "metrics"> = {
    journal: echo(calls),
    schedules: echo(calls),
    followUps: echo(calls),
    metrics: echo(calls),
  };
  return { calls, context, dry: dryRunOf({ ...context, ...outside }, echo(calls)) };
}

it("reads the journal and the nodes outside", async () => {
  const { dry, context } = dryRun();
  const probe = { scope: "cluster" as const, holdId: holdId(1) };
  const reads: [unknown, unknown[]][] = [
    [dry.journal.history(5), ["history", 5]],
    [dry.journal.lastSweep(), ["lastSweep"]],
    [dry.journal.nextToSweep(), ["nextToSweep"]],
    [dry.journal.findProbe("p"), ["findProbe", "p"]],
    [dry.nodes.mark(probe, context), ["mark", probe, context]],
    [dry.nodes.releaseAll(new Set(["a"]), context), ["releaseAll", new Set(["a"]), context]],
    [dry.nodes.markedNodes(context), ["markedNodes", context]],
    [dry.nodes.joinedSince(noon, "all", context), ["joinedSince", noon, "all", context]],
    [dry.nodes.hasJoined("cluster", noon, context), ["hasJoined", "cluster", noon, context]],
    [dry.nodes.countUserHeld(context), ["countUserHeld", context]],
  ];
  for (const [answer, expected] of reads) expect(await answer).toEqual(expected);
});

it("keeps what is written away from the outside", async () => {
  const { dry, calls } = dryRun();
  const { journal, schedules, followUps, metrics } = dry;
  await journal.remember(aPastHold());
  await journal.noteSweep(noon);
  await journal.noteNextToSweep("cluster");
  await journal.answerProbe({ id: "p", sentAt: noon, queuedAt: noon, answeredAt: noon, version: "1" });
  await followUps.enqueue({ kind: "launches", launches: [], firstSeenAt: noon, attempt: 0 }, minutes(1));
  metrics.add("HoldsStarted", 1);
  expect(await schedules.arm("cluster", holdId(1), noon)).toBe("armed");
  expect(calls).toEqual([]);
});

it("reads records outside until it has written them itself", async () => {
  const batch = aRecord({ scope: "nodepool/batch", version: 1 });
  const { context, record, world } = coreWorld({ records: [aRecord(), { ...batch, version: 0 }] });
  const dry = dryRunOf(context, context.nodes);
  const [before, written] = [aRecord({ version: 1 }), aRecord({ version: 1, hold: aHold() })];
  expect(await dry.holds.find("cluster")).toEqual(before);
  expect(await dry.holds.write(written)).toBe(true);
  expect(await dry.holds.find("cluster")).toEqual(written);
  expect(await dry.holds.all()).toEqual({ records: [batch, written], unreadable: [], nameless: [] });
  await dry.holds.replace(aRecord({ version: 7 }));
  expect(await dry.holds.find("cluster")).toEqual(aRecord({ version: 7 }));
  await world.holds.spoil("nodepool/batch");
  expect((await dry.holds.all()).unreadable).toHaveLength(1);
  expect(record()).toEqual(before);
});

it("does not count marks again that it has taken off", async () => {
  const { dry, context } = dryRun();
  expect(await dry.nodes.marks(["a"], context)).toEqual(["marks", ["a"], context]);
  expect(await dry.nodes.release({ holdId: "b" }, context)).toEqual(["release", { holdId: "b" }, context]);
  expect(await dry.nodes.marks(["a"], context)).toEqual(["marks", ["a", "b"], context]);
});

it("marks every line of its log", () => {
  const { dry, context } = dryRun();
  const levels = ["info", "warn", "error"] as const;
  for (const level of levels) dry.log[level]("done", { n: 1 });
  const log = context.log as CollectedLog;
  expect(log.reported("done")).toEqual(levels.map(() => ({ n: 1, dryRun: true })));
});
