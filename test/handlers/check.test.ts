import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import type { ClusterFindings, Inspection } from "../../lambda/core/operate/check.ts";
import { orCheck } from "../../lambda/handlers/check.ts";
import { onControlRequest } from "../../lambda/handlers/control.ts";
import { version } from "../../lambda/version.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { aHeldRecord, aHold, aQuiet, aRecord } from "../support/builders.ts";
import { until } from "../support/context.ts";

const findings: ClusterFindings = {
  ...{ kubernetes: "v1.36.1", missingRights: [], needlessRights: [], nodes: 3 },
  ...{ foreignChange: "refused", ownChange: "admitted", stuck: [], userHeld: [], ineffective: [] },
};
const inspecting = (inspect: Inspection["inspect"] = async () => findings): Inspection => ({ inspect });
const context = until(new Date(noon.getTime() + minutes(2)));
const check = (world: World, inspection?: Inspection) =>
  onControlRequest(world.ports, inspection)({ do: "check" }, context);

describe("a check from inside", () => {
  it("reports the present holds, what the cluster showed and which code answers", async () => {
    const world = new World();
    await world.finish(await world.ask({ do: "hold", reason: "test" }));
    const end = after(noon, minutes(20));
    const held = { scope: "cluster", id: holdId(1), state: "held", until: end, nextLook: end };
    expect(await check(world, inspecting())).toMatchObject({
      ...{ version, at: noon, record: { works: true, holds: [held] } },
      ...{ launches: { works: true, recent: 0 }, cluster: { works: true, ...findings } },
    });
  });

  it("reports which link is broken and still tries the others", async () => {
    const refused = inspecting(() => Promise.reject(new Error("The cluster refused the login (401)")));
    expect(await check(new World(), refused)).toMatchObject({
      record: { works: true, holds: [] },
      launches: { works: true },
      cluster: { works: false, because: "The cluster refused the login (401)" },
    });
  });

  it("lists only records with a hold, and the one-shot and the last sweep where they are known", async () => {
    const world = new World();
    await world.holds.put(aHeldRecord());
    await world.holds.put(aRecord({ scope: "nodepool/batch" }));
    const ended = { at: noon, because: "the hold expired" };
    await world.holds.put(aRecord({ scope: "nodepool/web", hold: aHold({ id: holdId(2), ended }) }));
    const { record } = Object(await check(world, inspecting()));
    const holds = [
      { scope: "cluster", id: holdId(1), state: "held", until: after(noon, minutes(20)) },
      { scope: "nodepool/web", id: holdId(2), state: "releasing", until: noon },
    ];
    expect(record).toEqual({ works: true, holds, pauses: [] });
    await world.journal.noteSweep(noon);
    expect(await check(world, inspecting())).toMatchObject({ record: { lastSweep: noon } });
  });

  it("calls the record broken when one cannot be read", async () => {
    const world = new World();
    await world.holds.put(aRecord());
    await world.holds.spoil("cluster");
    const because = expect.stringContaining("hold.startedAt must be a time");
    expect(await check(world, inspecting())).toMatchObject({ record: { works: false, because } });
  });

  it("counts the launches of the last hour", async () => {
    const world = new World();
    world.ec2.launch();
    const recentAfter = async (minutesLater: number) => {
      world.time = after(noon, minutes(minutesLater));
      return await check(world, inspecting());
    };
    expect(await recentAfter(59)).toMatchObject({ launches: { recent: 1 } });
    expect(await recentAfter(61)).toMatchObject({ launches: { recent: 0 } });
  });

  it("is refused by a holder without an inspection", async () => {
    await expect(check(new World())).rejects.toThrow("cannot be checked");
  });
});

describe("each function", () => {
  it("answers a check with what it can read, write, list and mark, and does everything else as before", async () => {
    const handled: unknown[] = [];
    const world = new World();
    const { launches: _, ...ports } = world.ports;
    const handle = orCheck(ports, inspecting(), async (payload) => void handled.push(payload));

    expect(await handle({ do: "check" }, context)).toEqual({
      ...{ version, at: noon, rules: world.ports.rules },
      record: { works: true, holds: [], pauses: [] },
      write: { works: true },
      cluster: { works: true, ...findings },
    });
    await handle({ scope: "cluster", holdId: holdId(1) }, context);
    expect(handled).toEqual([{ scope: "cluster", holdId: holdId(1) }]);
  });

  it("reports a record that it can read and not write, and a pause that is on", async () => {
    const world = new World();
    const quiet = aQuiet("paused", { until: after(noon, hours(1)) });
    await world.holds.put(aRecord({ quiet }));
    await world.holds.put(aRecord({ scope: "nodepool/a", quiet: aQuiet("paused", { until: noon }) }));
    // Of before scope=cluster.
    await world.holds.put(aRecord({ scope: "nodepool/b", quiet }));
    const answerProbe = () => Promise.reject(new Error("not authorized"));
    const ports = {
      ...world.ports,
      journal: { ...world.ports.journal, lastSweep: async () => undefined, answerProbe },
    };
    expect(await orCheck(ports, inspecting(), async () => {})({ do: "check" }, context)).toMatchObject({
      record: { works: true, pauses: [{ scope: "cluster", until: quiet.until, because: "upgrade" }] },
      write: { works: false, because: "not authorized" },
    });
  });

  it("reports no pause of a NodePool that the settings leave out", async () => {
    const world = new World({ scope: "nodepool", nodePools: { only: [], except: ["gpu"] } });
    const quiet = aQuiet("paused", { until: after(noon, hours(1)) });
    for (const scope of ["nodepool/gpu", "nodepool/web"] as const)
      await world.holds.put(aRecord({ scope, quiet }));
    const check = orCheck(world.ports, inspecting(), async () => {});
    expect(await check({ do: "check" }, context)).toMatchObject({
      record: { pauses: [{ scope: "nodepool/web" }] },
    });
  });
});
