import { describe, expect, it } from "vitest";
import { BadInputError } from "../../../lambda/core/errors.ts";
import { releaseDue, releaseRequest } from "../../../lambda/core/operate/release.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { aHeldRecord, aHold, aRecord, aRequest } from "../../support/builders.ts";
import { at } from "../plans.ts";
import { aWorld, batch, nothing } from "./marked-world.ts";

describe("a one-shot", () => {
  it("looks at its scope: a hold that is over is released, any other one stays", async () => {
    const { world, context } = aWorld([aHeldRecord()]);
    expect(await releaseDue(context(), "cluster")).toMatchObject({ released: 0, heldUntil: at(20) });
    world.time = at(20);
    expect(await releaseDue(context(), "cluster")).toEqual({
      ...nothing,
      released: 1,
      because: "the hold expired",
    });
  });

  it("reads the pods, where nodes go when that pays", async () => {
    const { world, context, record } = aWorld([aHeldRecord()], {}, { auto: true });
    await releaseDue(context(), "cluster");
    expect(record()?.account?.at).toEqual(world.time);
  });

  it("whose hold is gone changes nothing", async () => {
    const { context } = aWorld([], {});
    expect(await releaseDue(context(), batch)).toMatchObject(nothing);
  });
});

describe("the release of one request", () => {
  it("leaves what else holds the scope: other requests and launches", async () => {
    const requests = [aRequest(), aRequest({ name: "other", until: at(30) })];
    const { world, context } = aWorld([aHeldRecord({ requests })]);
    const release = (name: string) => releaseRequest(context(), { name, scope: "cluster" });
    const answer = { ...nothing, because: "request load-test was released" };
    expect(await release("load-test")).toEqual({ ...answer, heldUntil: at(30) });
    expect(await release("other")).toMatchObject({ heldUntil: at(20) });
    expect(world.nodes.marks()).toEqual({ a: holdId(1) });
  });

  it("releases the nodes where nothing else holds them", async () => {
    const { world, context } = aWorld([aRecord({ hold: aHold(), requests: [aRequest()] })]);
    expect(await releaseRequest(context(), { name: "load-test", scope: "cluster" })).toMatchObject({
      released: 1,
    });
    expect(world.journal.past.get(holdId(1))).toMatchObject({ endedBecause: "released by hand: load-test" });
  });

  it("that was released before is done: the answer to the first try may have been lost", async () => {
    const { context, record } = aWorld([aRecord({ requests: [aRequest({ releasedAt: at(4) })] })]);
    const before = record();
    expect(await releaseRequest(context(), { name: "load-test", scope: "cluster" })).toEqual({
      ...nothing,
      because: "request load-test was released",
    });
    expect(record()).toEqual(before);
  });

  it.each([
    [
      "requests: load-test, other",
      [aRequest(), aRequest({ name: "other" }), aRequest({ name: "mistyped", until: at(4) })],
    ],
    ["requests: load-test", [aRequest()]],
    ["there is no request", [aRequest({ releasedAt: at(4) })]],
  ])("refuses a name that is not there, and names those that are: %s", async (present, requests) => {
    const { context, record } = aWorld([aHeldRecord({ requests })]);
    const refused = releaseRequest(context(), { name: "mistyped", scope: "cluster" });
    await expect(refused).rejects.toMatchObject({
      name: BadInputError.name,
      message: `Cannot release: no request mistyped in cluster; ${present}`,
    });
    expect(record()?.launchHold).toBeDefined();
  });
});
