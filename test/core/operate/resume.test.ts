import { describe, expect, it } from "vitest";
import { after, seconds } from "../../../lambda/core/duration.ts";
import { resume } from "../../../lambda/core/operate/release.ts";
import { aQuiet, aRecord, aRequest } from "../../support/builders.ts";
import { at } from "../plans.ts";
import { aWorld, byPool, pool } from "./paused-world.ts";

describe("resuming", () => {
  const paused = aQuiet("paused", { until: at(600) });
  const allDone = { failed: 0, left: false };

  it("marks nodes for requests again, and says which could not be changed", async () => {
    const { world, context } = aWorld([aRecord({ quiet: paused, requests: [aRequest()] })]);
    world.nodes.add("b");
    world.refuses = (call) => call === "patch b";
    expect(await resume(context(), "cluster")).toMatchObject({ resumed: ["cluster"], failed: 1 });
  });

  it("says that nodes of one scope are left where the time was over", async () => {
    const { world, context } = aWorld(
      [aRecord(), aRecord({ scope: pool, quiet: paused, requests: [aRequest()] })],
      byPool,
    );
    for (let n = 10; n < 40; n++) world.nodes.add(`n${n}`);
    const { deadline } = context();
    world.refuses = (call) => {
      if (call === "patch n29") world.time = deadline;
      return false;
    };
    expect(await resume(context(), undefined)).toMatchObject({ resumed: [pool], left: true });
  });

  it("resumes the other scopes where the nodes of one cannot be listed, and fails", async () => {
    const requests = [aRequest()];
    const records = [aRecord({ quiet: paused, requests }), aRecord({ scope: pool, quiet: paused, requests })];
    const { world, context } = aWorld(records, byPool);
    world.refuses = (call) => call === "list";
    await expect(resume(context(), undefined)).rejects.toThrow("what was recorded is resumed");
    for (const { quiet } of (await context().holds.all()).records) expect(quiet?.until).toEqual(at(5));
  });

  it.each([
    ["paused", "the pause is over"],
    ["breather", "the breather is cut short"],
  ] as const)("lets launches count again from now on: %s", async (kind, expected) => {
    const { world, context, holds } = aWorld([aRecord({ quiet: aQuiet(kind, { until: at(600) }) })]);
    world.time = at(7);
    expect(await resume(context(), "cluster")).toMatchObject({ resumed: ["cluster"], because: expected });
    world.time = at(8);
    expect(await holds(at(6))).toBe(false);
    expect(await holds(at(7.5))).toBe(true);
  });

  it("lets launches count from now on, also where the clock that began the pause is ahead", async () => {
    const quiet = aQuiet("paused", { since: at(7.5), until: at(600) });
    const { world, context, holds, record } = aWorld([aRecord({ quiet })]);
    world.time = at(7);
    await resume(context(), "cluster");
    expect(record()?.quiet).toMatchObject({ since: at(7), until: at(7) });
    world.time = at(7.4);
    expect(await holds(at(7.2))).toBe(true);
  });

  it("counts a launch in the second in which it was resumed: launch times have whole seconds", async () => {
    const { world, context, holds } = aWorld([aRecord({ quiet: paused })]);
    world.time = new Date(at(7).getTime() + 0.9 * seconds(1));
    await resume(context(), undefined);
    world.time = after(at(7), seconds(2));
    expect(await holds(at(7))).toBe(true);
  });

  it.each([undefined, "cluster"] as const)("everything resumes every scope: %s", async (scope) => {
    const { context } = aWorld([aRecord({ scope: pool, quiet: paused }), aRecord({ quiet: paused })], byPool);
    const because = "the pause is over";
    expect(await resume(context(), scope)).toMatchObject({ resumed: ["cluster", pool], because });
  });

  it("one NodePool resumes that one, and says that the whole cluster is still paused", async () => {
    const { context, record } = aWorld(
      [aRecord({ quiet: paused }), aRecord({ scope: pool, quiet: paused })],
      byPool,
    );
    expect(await resume(context(), pool)).toMatchObject({
      resumed: [pool],
      isPaused: true,
      because: `the whole cluster is still paused by hand until ${at(600).toISOString()}: upgrade: resume it`,
    });
    expect(record()?.quiet).toEqual(paused);
  });

  it("one NodePool of a cluster that is not paused says what ended", async () => {
    const over = aQuiet("paused", { until: at(4) });
    for (const quiet of [undefined, over, aQuiet("breather", { until: at(60) })]) {
      const whole = aRecord(quiet && { quiet });
      const { context } = aWorld([whole, aRecord({ scope: pool, quiet: paused })], byPool);
      expect(await resume(context(), pool)).toEqual({
        ...allDone,
        resumed: [pool],
        because: "the pause is over",
      });
    }
  });

  it.each([
    ["never paused", undefined],
    ["paused once", aQuiet("paused", { until: at(4) })],
    ["paused until now", aQuiet("paused", { until: at(5) })],
  ])("what was %s changes nothing", async (_, quiet) => {
    const { context, record } = aWorld([aRecord(quiet && { quiet })]);
    const because = "nothing was paused";
    expect(await resume(context(), undefined)).toEqual({ ...allDone, resumed: [], because });
    expect(record()?.quiet).toEqual(quiet);
  });
});
