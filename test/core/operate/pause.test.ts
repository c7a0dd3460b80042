import { describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { holdAsAsked } from "../../../lambda/core/operate/hold.ts";
import { forceRelease, releaseDue, resume } from "../../../lambda/core/operate/release.ts";
import { getStatus } from "../../../lambda/core/operate/status.ts";
import { reconcile } from "../../../lambda/core/reconcile.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { aHeldRecord, aQuiet, aRecord, aRequest } from "../../support/builders.ts";
import { at, launchAt } from "../plans.ts";
import { aWorld, because, byPool, pool, reason } from "./paused-world.ts";

describe("a pause", () => {
  it("releases everything, and answers until when it lasts", async () => {
    const { world, ask, record } = aWorld([aHeldRecord({ requests: [aRequest()] })]);
    expect(await ask(30)).toEqual({ released: 1, kept: 0, failed: 0, left: false, because, until: at(35) });
    expect(world.nodes.marks()).toEqual({});
    expect(record()?.quiet).toMatchObject({ since: at(5), until: at(35) });
    expect(world.journal.past.get(holdId(1))).toMatchObject({ endedBecause: because });
  });

  it("ends after a day, unless it was asked for longer", async () => {
    const { ask, record } = aWorld();
    const aDay = 24 * 60;
    expect(await ask()).toMatchObject({ until: at(5 + aDay), because });
    expect(record()?.quiet).toEqual({ kind: "paused", since: at(5), until: at(5 + aDay), because: reason });
    expect(await ask(7 * aDay)).toMatchObject({ until: at(5 + 7 * aDay), because });
  });

  it("of one NodePool pauses that one alone", async () => {
    const { ask, record } = aWorld([aRecord({ scope: pool }), aRecord()], byPool);
    await ask(30, pool);
    expect([record(pool)?.quiet?.kind, record()?.quiet]).toEqual(["paused", undefined]);
  });

  it("asked for again keeps its start; the last end and reason count, also a shorter one", async () => {
    const { world, ask, record } = aWorld();
    await ask(60);
    world.time = at(10);
    await ask(5);
    expect(record()?.quiet).toMatchObject({ since: at(5), until: at(15) });
    world.time = at(20);
    await ask(5);
    expect(record()?.quiet).toMatchObject({ since: at(20), until: at(25) });
  });

  it("lasts as long as was asked for after one that a wrong clock began in a time to come", async () => {
    const { world, ask, record } = aWorld([
      aHeldRecord({ quiet: aQuiet("paused", { since: at(65), until: at(185) }) }),
    ]);
    await ask(30);
    expect([world.nodes.marks(), record()?.quiet]).toMatchObject([{}, { since: at(5), until: at(35) }]);
    const other = aWorld([aRecord({ quiet: aQuiet("paused", { since: at(65), until: at(185) }) })]);
    await resume(other.context(), "cluster");
    expect(other.record()?.quiet).toMatchObject({ since: at(5), until: at(5) });
  });

  it("that is over before it is recorded lasts no longer", async () => {
    const { world, ask, record } = aWorld();
    world.refuses = (call) => {
      if (call === "list") world.time = at(10);
      return false;
    };
    await ask(3);
    expect(record()?.quiet?.until).toEqual(at(8));
  });

  it("closes its hold within two minutes, though launches go on: no release is overdue", async () => {
    const { world, context, ask, record } = aWorld([aHeldRecord({ seen: { "i-4.5": at(4.5) } })]);
    await ask(30);
    for (const minute of [5.5, 6, 6.5, 7, 7.5]) {
      world.time = at(minute);
      await reconcile(context(), "cluster", { launches: [launchAt(minute)] });
    }
    expect(record()?.hold).toBeUndefined();
    expect(Math.max(...world.metrics.all("ReleaseLagMs"))).toBeLessThan(minutes(2));
  });

  it("silences requests, which go on after it; status shows them meanwhile", async () => {
    const requests = [aRequest({ name: "office", cause: "window", until: at(65) }), aRequest()];
    const { world, context, ask, record } = aWorld([aHeldRecord({ requests })]);
    await ask(30);
    expect([world.nodes.marks(), record()?.requests]).toEqual([{}, requests]);
    const [shown] = (await getStatus(context())).scopes;
    expect(shown).toMatchObject({ state: "paused", requests: [{ name: "office" }, { name: "load-test" }] });
    world.time = at(35);
    expect((await releaseDue(context(), "cluster")).heldUntil).toEqual(at(65));
    expect(world.nodes.marks()).toEqual({ a: record()?.hold?.id });
  });

  it("holds for a window or an event of this time once it is over", async () => {
    const { world, context, ask, record } = aWorld();
    await ask(30);
    const asked = { for: minutes(60), reason: "office hours", at: at(10) };
    world.time = at(11);
    await holdAsAsked(context(), "cluster", { ...asked, name: "office", cause: "window" });
    await holdAsAsked(context(), "cluster", { ...asked, name: "deploy", cause: "event" });
    expect([world.nodes.marks(), record()?.hold]).toEqual([{}, undefined]);
    // A schedule is named after a hold, though there is none yet.
    const ids = [...world.oneShots.armed.values()].map((one) => one.holdId);
    expect(new Set(ids.map(isHoldId))).toEqual(new Set([true]));
    await resume(context(), "cluster");
    expect(record()).toMatchObject({ hold: {}, requests: [{ name: "office" }, { name: "deploy" }] });
    expect(world.nodes.marks()).toEqual({ a: record()?.hold?.id });
  });

  it("brings back no request that was released by force before it", async () => {
    const { context, ask, record } = aWorld([aHeldRecord({ requests: [aRequest({ cause: "window" })] })]);
    await forceRelease(context(), { reason });
    await ask(1);
    const duplicate = { name: "by-hand", cause: "window", for: minutes(60), reason, at: at(0) } as const;
    await holdAsAsked(context(), "cluster", duplicate);
    expect(record()?.requests).toMatchObject([{ name: "load-test", releasedAt: at(5) }]);
  });

  it("whose nodes cannot be released says that it may be recorded", async () => {
    const { world, ask, record } = aWorld([aHeldRecord()]);
    world.refuses = (call) => call === "list";
    await expect(ask(30)).rejects.toThrow(
      "if the pause was recorded, it lasts until 2026-11-21T12:35:00.000Z: `status` shows it, and `resume` ends it",
    );
    expect(record()?.quiet?.kind).toBe("paused");
  });
});
