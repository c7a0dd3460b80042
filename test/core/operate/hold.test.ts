import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { BadInputError, TryAgainError } from "../../../lambda/core/errors.ts";
import { type HoldRequest, holdAsAsked } from "../../../lambda/core/operate/hold.ts";
import { forceRelease, releaseDue } from "../../../lambda/core/operate/release.ts";
import type { ScopeRecord } from "../../../lambda/core/record.ts";
import { mostRequests } from "../../../lambda/core/requests.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { aQuiet, aRecord, aRequest } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";
import { at } from "../plans.ts";

const byPerson: HoldRequest = { name: "load-test", cause: "person", for: minutes(45), reason: "load test" };
const byEvent: HoldRequest = {
  name: "deploys",
  cause: "event",
  for: minutes(45),
  reason: "deploy 7",
  at: at(0),
};
const aWindow: HoldRequest = { ...byEvent, name: "office", cause: "window" };

/** A world at noon with one node, and a request to hold it. */
function aWorld(records: readonly ScopeRecord[] = [], rules: Partial<Rules> = {}) {
  const it = coreWorld({ records, rules });
  it.world.nodes.add("a");
  const ask = (about: HoldRequest = byPerson, minute = 0, scope: ScopeRecord["scope"] = "cluster") => {
    it.world.time = at(minute);
    return holdAsAsked(it.context(), scope, about);
  };
  return { ...it, ask };
}

describe("a request to hold", () => {
  it("is answered with its end, and with what was marked", async () => {
    const { world, ask } = aWorld();
    expect(await ask()).toEqual({
      name: "load-test",
      holdId: holdId(1),
      ...{ since: at(0), until: at(45), heldUntil: at(45) },
      ...{ marked: 1, userHeld: 0, failed: 0, left: false },
      because: "load test",
    });
    expect(world.nodes.held(holdId(1))).toEqual(["a"]);
  });

  it("of one name is one request: the person's last one counts, shorter or longer", async () => {
    const { ask, record } = aWorld();
    await ask();
    expect(await ask({ ...byPerson, for: minutes(10) }, 5)).toMatchObject({
      until: at(15),
      heldUntil: at(15),
    });
    expect(await ask({ ...byPerson, for: minutes(60) }, 6)).toMatchObject({
      until: at(66),
      heldUntil: at(66),
    });
    expect(await ask({ ...byPerson, name: "other" }, 6)).toMatchObject({ until: at(51), heldUntil: at(66) });
    expect(record()?.requests).toHaveLength(2);
  });

  it("counts nodes that an older hold had marked, too", async () => {
    const { world, ask } = aWorld();
    world.nodes.add("b");
    world.nodes.mark("b", "20260101t000000-abcdef");
    expect(await ask()).toMatchObject({ marked: 2 });
  });

  it("with mode=observe marks nothing, and its answer says so", async () => {
    const { world, ask } = aWorld([], { mode: "observe" });
    expect(await ask()).toMatchObject({ observed: true, heldUntil: at(45), marked: 0 });
    expect(world.nodes.marks()).toEqual({});
  });
});

it("requests that are made at once are all recorded", async () => {
  const { ask, record } = aWorld();
  const all = Array.from({ length: 25 }, (_, n) => ask({ ...byPerson, name: `job-${n}` }));
  for (const answer of await Promise.all(all)) expect(answer.until).toEqual(at(45));
  expect(record()?.requests).toHaveLength(25);
});

describe("a request of an event or a window", () => {
  it.each([byEvent, aWindow])(
    "lasts from its own time, and a late or duplicate one holds no longer: $cause",
    async (asked) => {
      const { ask } = aWorld();
      expect(await ask(asked, 5)).toMatchObject({ until: at(45) });
      expect(await ask(asked, 10)).toMatchObject({
        until: at(45),
        because: "the request already lasts as long",
      });
      expect(await ask(asked, 50)).toMatchObject({ because: "the requested time is over" });
    },
  );

  it("starts nothing from before a forced release, and nothing again that was released", async () => {
    const { ask } = aWorld([
      aRecord({
        released: { at: at(1), because: "x" },
        requests: [aRequest({ ...named(aWindow), at: at(1), releasedAt: at(2) })],
      }),
    ]);
    expect(await ask(byEvent, 5)).toMatchObject({
      because: "a release has ended everything from before",
    });
    expect(await ask({ ...aWindow, at: at(1) }, 5)).toMatchObject({
      because: "the request was released since",
    });
    expect(await ask({ ...byEvent, at: at(4) }, 5)).toMatchObject({ until: at(49) });
  });

  it("in the second of a release may have come after it: a duplicate of what was released has the same time", async () => {
    const releasedAt = after(at(4), seconds(0.4));
    const requests = [aRequest({ ...named(aWindow), at: at(1), releasedAt })];
    const released = { at: after(at(3), seconds(0.4)), because: "x" };
    const early = { ...byEvent, name: "deploy" };
    const { ask } = aWorld([aRecord({ released, requests: [] })]);
    expect(await ask({ ...early, at: at(3) }, 5)).toMatchObject({ since: released.at });
    expect(await ask({ ...early, name: "other", at: after(at(3), -1) }, 5)).not.toHaveProperty("since");
    const again = aWorld([aRecord({ requests })]);
    expect(await again.ask({ ...aWindow, at: at(1) }, 5)).not.toHaveProperty("since");
    expect(await again.ask({ ...aWindow, at: at(4) }, 5)).toMatchObject({ since: at(4) });
  });

  it("does not hold again by a duplicate where all was released in its second", async () => {
    const { world, context, ask, record } = aWorld();
    await ask(byEvent);
    world.time = after(at(0), seconds(0.4));
    await forceRelease(context(), { reason: "x" });
    expect(await ask(byEvent, 1)).toMatchObject({ because: "the request was released since" });
    expect([world.nodes.marks(), record()?.hold]).toEqual([{}, undefined]);
    expect(await ask({ ...byEvent, name: "next", at: at(1) }, 1)).toMatchObject({ until: at(46) });
    world.time = at(46);
    expect(await releaseDue(context(), "cluster")).toMatchObject({ because: "the hold expired" });
  });

  it("of the future counts from now", async () => {
    expect(await aWorld().ask({ ...byEvent, at: at(600) })).toMatchObject({ until: at(45) });
  });

  it("that is one too many is left, with a warning and without an error", async () => {
    const requests = Array.from({ length: mostRequests }, (_, n) => aRequest({ name: `event-${n}` }));
    const { ask, world } = aWorld([aRecord({ requests })]);
    const { because } = await ask(byEvent);
    expect(because).toBe(`there are ${mostRequests} requests already: release one of them`);
    await ask({ ...byEvent, name: "event-1" });
    const decided = world.log.lines.filter(({ sentence }) => sentence === "request to hold decided");
    expect(decided.map(({ level }) => level)).toEqual(["warn", "info"]);
  });

  function named({ name, cause, reason }: HoldRequest) {
    return { name, cause, reason };
  }
});

describe("what a person cannot get is an error, and nothing is recorded", () => {
  it.each<[string, ScopeRecord, HoldRequest, string]>([
    [
      "longer than maxRequest",
      aRecord(),
      { ...byPerson, for: hours(25) },
      "Cannot hold: for must be at most maxRequest (24h), not 25h",
    ],
    [
      "in a pause",
      aRecord({ quiet: aQuiet("paused", { until: at(600) }) }),
      byPerson,
      `Cannot hold: paused by hand until ${at(600).toISOString()}: upgrade: resume first`,
    ],
    [
      "one too many",
      aRecord({ requests: Array.from({ length: mostRequests }, (_, n) => aRequest({ name: `${n}` })) }),
      byPerson,
      "Cannot hold: there are 50 requests already: release one of them",
    ],
  ])("%s", async (_, before, asked, message) => {
    const { ask, record, world } = aWorld([before]);
    const was = record();
    await expect(ask(asked)).rejects.toMatchObject({ name: BadInputError.name, message });
    expect([record(), world.nodes.marks()]).toEqual([was, {}]);
  });

  it("in a pause of the whole cluster, where holds are by NodePool", async () => {
    const { ask } = aWorld([aRecord({ quiet: aQuiet("paused") })], { scope: "nodepool" });
    await expect(ask(byPerson, 5, "nodepool/default")).rejects.toThrow(/resume first$/);
  });

  it("the limit counts for events, too, and not for windows, which have one of their own", async () => {
    const { ask } = aWorld([], { maxRequest: hours(1) });
    await expect(ask({ ...byEvent, for: minutes(61) })).rejects.toThrow("at most maxRequest (1h)");
    expect(await ask({ ...byEvent, for: hours(1) })).toMatchObject({ until: at(60) });
    expect(await ask({ ...aWindow, for: hours(10) })).toMatchObject({ until: at(600) });
    await expect(ask({ ...aWindow, for: hours(169) })).rejects.toThrow("at most 168h, not 169h");
  });
});

describe("a request whose pass fails", () => {
  it("says that it may be recorded, and what happens then", async () => {
    const { world, ask, record } = aWorld();
    world.refuses = (call) => call === "list";
    await expect(ask()).rejects.toMatchObject({
      name: TryAgainError.name,
      message:
        "list was refused; if the request was recorded, `status` shows it: the next sweep marks its nodes, and `release --name` cancels it",
    });
    expect(record()?.requests).toHaveLength(1);
  });

  it("says so, too, where it made a request longer", async () => {
    const { world, ask } = aWorld([aRecord({ requests: [aRequest({ until: at(45) })] })]);
    world.refuses = (call) => call === "list";
    await expect(ask({ ...byPerson, for: minutes(50) })).rejects.toThrow("if the request was recorded");
  });

  it("says nothing of that where it changed nothing", async () => {
    const { world, ask } = aWorld([aRecord({ requests: [aRequest({ until: at(45) })] })]);
    world.refuses = (call) => call === "list";
    await expect(ask({ ...byPerson, for: minutes(45) })).rejects.toMatchObject({
      message: "list was refused",
    });
  });
});
