import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { onControlRequest } from "../../lambda/handlers/control.ts";
import { onRelease } from "../../lambda/handlers/release.ts";
import { parseControlRequest, parseReleaseRequest } from "../../lambda/handlers/requests.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { until } from "../support/context.ts";
import fc from "../support/fast-check.ts";

const context = until(new Date(noon.getTime() + 60_000));

describe("a request to release", () => {
  it("comes from a one-shot or by hand", () => {
    expect(parseReleaseRequest({ scope: "nodepool/a", holdId: "20260131t093000-k3f9ax" })).toEqual({
      kind: "due",
      scope: "nodepool/a",
      holdId: "20260131t093000-k3f9ax",
    });
    expect(parseReleaseRequest({ force: true })).toEqual({
      kind: "force",
      reason: "no reason given",
      scope: undefined,
      askedAt: undefined,
    });
    expect(parseReleaseRequest({ force: true, askedAt: "2026-11-21T12:00:00Z" })).toMatchObject({
      askedAt: noon,
    });
  });

  it.each<[unknown, RegExp]>([
    [undefined, /the payload must be an object, but is missing/],
    [{}, /holdId must be the id of a hold \(or send .*\), but is missing; scope must be/],
    [
      { holdId: "A b", scope: "x" },
      /holdId must be .*not "A b"; scope must be "cluster" or "nodepool\/NAME", not "x"/,
    ],
    [{ force: true, scop: "nodepool/a" }, /the field scop must be one of force, reason, by, scope, askedAt$/],
    [{ force: true, by: "two\nlines" }, /by must be a name of 1 to 100 characters/],
    [{ force: true, askedAt: "noon" }, /askedAt must be a time like 2026-01-31T09:30:00Z, not "noon"/],
    [
      { force: "yes", scope: 7, reason: 1 },
      /force must be true, not "yes"; reason must be one line.*; scope must be/,
    ],
  ])("that is wrong is refused by name: %j", (payload, problem) => {
    expect(() => parseReleaseRequest(payload)).toThrow(problem);
  });
});

describe("a request of an operator", () => {
  it("is read with its duration, scope and reason", () => {
    const asked = { do: "hold", name: "load-test", for: "45m", scope: "cluster", reason: "load test" };
    expect(parseControlRequest(asked)).toEqual({
      do: "hold",
      name: "load-test",
      for: minutes(45),
      scope: "cluster",
      reason: "load test",
    });
    expect(parseControlRequest({ do: "history" })).toEqual({ do: "history", limit: 20 });
  });

  it("to release names any request, also a window by its schedule; a person names one in plain letters", () => {
    const name = "cron(0 8 ? * MON-FRI *) Europe/Berlin";
    expect(parseControlRequest({ do: "release", name })).toMatchObject({ do: "release", name });
    expect(() => parseControlRequest({ do: "hold", name })).toThrow(
      /^This request .+: name must be a name of 1 to 63/,
    );
  });

  it.each<[unknown, RegExp]>([
    [null, /the payload must be an object, not null$/],
    [{ do: "dance" }, /do must be status, check, history, probe, hold.*, not "dance"/],
    [{ do: "hold", for: "0s" }, /for must be a duration from 1m to 2160h, like 90s, 20m, 2h or 1d, not "0s"/],
    [{ do: "hold", for: 45, scope: "all" }, /scope must be .*not "all"; for must be a duration .*not 45/],
    [{ do: "pause", for: "91d" }, /for must be a duration from 1m to 2160h/],
    [{ do: "history", limit: 1.5 }, /limit must be a whole number from 0 to 1000, not 1.5/],
    [{ do: "probe" }, /id must be text, but is missing/],
    [{ do: "release", name: null }, /name must be one line of 1 to 250 characters, not null/],
    [{ do: "release", nam: "x" }, /: the field nam must be one of do, scope, reason, by, name$/],
    [{ do: "pause", duration: "2h" }, /the field duration must be one of do, scope, reason, by, for$/],
    [{ do: "release", reason: "" }, /reason must be one line of 1 to 250 characters, not ""/],
    ...["", "x".repeat(101), "two\nlines", 7].map((by): [unknown, RegExp] => [
      { do: "release", by },
      /by must be a name of 1 to 100 characters/,
    ]),
    [{ do: "pause", reason: "\u001b[2Jnothing to see" }, /reason must be one line of 1 to 250 characters/],
    [{ do: "pause", reason: "half a character: \ud83d" }, /reason must be one line of 1 to 250 characters/],
  ])("that is wrong is refused by name: %j", (payload, problem) => {
    expect(() => parseControlRequest(payload)).toThrow(problem);
  });
});

it("a hold and the release of one request need the name of a NodePool with scope=nodepool only", async () => {
  const hold = (scope: "cluster" | "nodepool") => new Scenario({ scope }).control({ do: "hold", for: "10m" });
  await expect(hold("nodepool")).rejects.toThrow("Cannot hold: scope is missing");
  expect(await hold("cluster")).toMatchObject({ name: "by-hand", until: after(noon, minutes(10)) });
  const release = new Scenario({ scope: "nodepool" }).control({ do: "release", name: "load-test" });
  await expect(release).rejects.toThrow("Cannot release: scope is missing");
});

it("a hold without a length lasts as long as one after a launch, or as a person may ask for; a release without a name ends everything", async () => {
  const short = await new Scenario({ maxRequest: minutes(10) }).control({ do: "hold" });
  expect(short).toMatchObject({ until: after(noon, minutes(10)) });
  const world = new Scenario();
  world.addNode("a");
  expect(await world.control({ do: "hold" })).toMatchObject({ until: after(noon, minutes(20)), marked: 1 });
  await world.control({ do: "hold", name: "other", for: "1h" });
  expect(await world.control({ do: "release", name: "by-hand" })).toMatchObject({ released: 0 });
  await world.pass(minutes(1));
  expect(await world.control({ do: "release", reason: "done" })).toMatchObject({
    released: 1,
    because: "released by hand: done",
  });
});

describe("any request", () => {
  it.each(["hold", "release", "pause"])(
    "is logged with its reason, also where nothing changes: %s",
    async (action) => {
      const world = new Scenario();
      world.addNode("a");
      const ask = { do: action, reason: "load test" };
      await world.control({ ...ask, reason: "first" });
      await world.control(ask);
      expect(world.log.reported("operator asked").at(-1)).toMatchObject(ask);
    },
  );

  it.each<[what: string, ask: (world: Scenario, asked: object) => Promise<unknown>]>([
    ["a release", (world, asked) => world.control({ do: "release", ...asked })],
    ["a pause", (world, asked) => world.control({ do: "pause", ...asked })],
    ["an invocation", (world, asked) => world.releaseByHand({ force: true, ...asked })],
  ])("that releases names who asked in the log and in history, where that is known: %s", async (_, ask) => {
    for (const [by, why] of [
      ["ada@ops", "maintenance (by ada@ops)"],
      [undefined, "maintenance"],
    ]) {
      const world = new Scenario();
      world.addNode("a");
      world.launch({ joinsAfter: null });
      await world.pass(minutes(2));
      const asked = { reason: "maintenance", ...(by && { by }) };
      await ask(world, asked);
      await world.pass(minutes(2));
      expect(world.log.reported("operator asked")).toMatchObject([asked]);
      expect(world.history().map(({ endedBecause }) => endedBecause)).toEqual([
        expect.stringMatching(new RegExp(`by hand: ${why?.replace(/[()]/g, "\\$&")}$`)),
      ]);
    }
  });

  it("is not logged when it only reads", async () => {
    const world = new Scenario();
    await world.control({ do: "status" });
    expect(world.log.reported("operator asked")).toEqual([]);
  });

  const anything = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        do: fc.constantFrom("hold", "pause", "probe", "history", "x"),
        for: fc.jsonValue(),
        scope: fc.constantFrom("nodepool/", "all", 7, {}),
        reason: fc.jsonValue(),
        force: fc.constantFrom(false, "true", 1),
        holdId: fc.jsonValue(),
      },
      { requiredKeys: ["scope"] },
    ),
  );

  it("is either understood or refused by name, and what is refused changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (payload) => {
        for (const handler of [onRelease, onControlRequest]) {
          const world = new World();
          world.nodes.add("a");
          const error: unknown = await handler(world.ports)(payload, context).then(
            () => undefined,
            (refused) => refused,
          );
          if (error === undefined) continue;
          expect(error).toBeInstanceOf(BadInputError);
          expect(error).toHaveProperty(
            "problems",
            expect.arrayContaining([expect.stringMatching(/ must be /)]),
          );
          expect([world.holds.records.size, world.calls.includes("arm")]).toEqual([0, false]);
          expect(world.nodes.get("a")?.labels).toEqual({});
        }
      }),
      { numRuns: 500 },
    );
  });
});
