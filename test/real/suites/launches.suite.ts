import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newestKarpenter } from "../engines/build.ts";
import { commandsOf } from "../engines/karpenter-log.ts";
import { type LaunchRow, launchRows } from "../truth-table/launch-rows.ts";
import { type Launched, LaunchRun, type RowSeen } from "../truth-table/launch-run.ts";
import { keepOutcome, launchOutcomeFile, launchOutcomeOf } from "../truth-table/outcome.ts";
import { conditionOfChosen, shownBy } from "../truth-table/rows.ts";
import { World } from "../worlds/world.ts";

const version = process.env.KARPENTER_VERSION ?? newestKarpenter;
const rows = launchRows(version);
const marksChosen = shownBy(version, [{ since: conditionOfChosen }]).length > 0;

describe(`what the holder takes a launch for, on Karpenter ${version}`, () => {
  let world: World;
  let all: readonly RowSeen[];
  let inRoll: readonly Launched[];

  beforeAll(async () => {
    world = await World.start(version);
    const run = new LaunchRun(world, rows);
    all = await run.play();
    if (marksChosen) inRoll = await run.demandInRoll();
  });
  afterAll(async () => world?.stop());

  const seen = (name: string): RowSeen => {
    const found = all.find(({ row }) => row.name === name);
    if (!found) throw new Error(`no row ${name}`);
    return found;
  };
  const named = (kind: LaunchRow["kind"]) =>
    rows.filter((row) => row.kind === kind).map((row) => [row.what, row] as const);

  it("every node before the causes was launched for pods, a static pool or a CapacityBuffer: demand, without an event", () => {
    const before = all.flatMap((row) => row.before);
    expect(before.length).toBeGreaterThan(10);
    for (const { claim, kind, event } of before)
      expect([claim, kind, event]).toEqual([claim, "demand", undefined]);
  });

  it.each(named("demand"))("demand: %s", (_, { name, capacity }) => {
    const { after } = seen(name);
    expect(after).not.toHaveLength(0);
    for (const launch of after) {
      expect(launch).toMatchObject({ kind: "demand", capacity });
      expect(launch).not.toHaveProperty("event");
    }
  });

  it.each(named("replacement"))("replacement: %s", (_, { name, capacity, reason, nodes }) => {
    const { before, after } = seen(name);
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ kind: "replacement", capacity });
    expect(after[0]?.event).toContain(`Launching NodeClaim: ${reason}`);
    // No row passes for another reason, or with fewer nodes.
    const own = before.map(({ node }) => node).sort();
    const commands = commandsOf(world).filter((command) => command.nodes.some((node) => own.includes(node)));
    expect(commands.map((command) => [command.reason, command.nodes.toSorted()])).toEqual([
      [reason?.toLowerCase(), own],
    ]);
    expect(own).toHaveLength(nodes);
  });

  it.runIf(marksChosen)(
    "demand: pods that wait are planned together with the replacement of a drifted node",
    () => {
      expect(inRoll.some(({ event }) => event?.includes("Launching NodeClaim: Drifted"))).toBe(true);
      for (const { claim, kind } of inRoll) expect([claim, kind]).toEqual([claim, "demand"]);
    },
  );

  it("writes the outcome for the page", () => {
    const outcome = launchOutcomeOf(all, version);
    expect(outcome.rows.map(({ what, kinds }) => [what, kinds])).toEqual(
      rows.map(({ what, kind }) => [what, [kind]]),
    );
    keepOutcome(launchOutcomeFile(version), outcome);
  });

  const notesUse = rows.every(({ used }) => used !== undefined);
  it.runIf(notesUse)(
    "a pod uses each new node within a minute, but none of a static pool or CapacityBuffer",
    () => {
      for (const { row, after } of all) {
        for (const { usedAfterSeconds = Number.POSITIVE_INFINITY } of after)
          expect([row.name, usedAfterSeconds < 60]).toEqual([row.name, row.used]);
      }
    },
  );

  it("only a static pool's NodeClaim asks for no resources", () => {
    for (const { row, before, after } of all) {
      for (const { asksForResources } of [...before, ...after])
        expect([row.name, asksForResources]).toEqual([row.name, row.pool?.replicas === undefined]);
    }
  });
});
