import { describe, expect, it } from "vitest";
import { after, hours, seconds } from "../../lambda/core/duration.ts";
import { looksOf } from "../../lambda/core/looks.ts";
import { getStatus } from "../../lambda/core/operate/status.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import { sweep } from "../../lambda/core/sweep.ts";
import { aHeldRecord, aRecord, aRequest, someRules } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";
import { at } from "./plans.ts";

const far = after(at(0), hours(20_000));

it("a request that a clock has written that was years ahead holds no node for ever", async () => {
  const request = aRequest({ at: far, until: after(far, hours(1)) });
  const { world, context } = coreWorld({ records: [aRecord({ requests: [request] })] });
  world.nodes.add("a");
  for (let minute = 30; minute <= 120; minute += 10) {
    world.time = at(minute);
    await sweep(context());
  }
  expect(world.nodes.held()).toEqual([]);
});

it("a message of such a clock does not stop the looks for nodes that boot", () => {
  const record = aHeldRecord({ looks: { message: far } });
  const facts = { record, launches: [], until: at(20), rules: someRules(), now: at(1), canQueue: true };
  const nodes = { holdable: [], present: new Set<string>(), awaitedSince: at(1) };
  expect(looksOf({ ...facts, nodes }).message?.delay).toBe(seconds(10));
});

it("a report that such a clock has noted stops no later one", async () => {
  const { world, context } = coreWorld({ rules: { mode: "observe" } });
  await world.journal.noteReport({ at: far, observed: {} });
  await sweep(context());
  expect(await world.journal.lastReport()).toMatchObject({ at: at(0) });
});

describe("an account of the nodes that such a clock has written", () => {
  const account = {
    ...{ at: far, nodes: 2, pauses: noPauses, wasted: {} },
    letGo: { a: far },
    leftAlone: { b: after(far, hours(1)) },
  };
  const aWorld = () => {
    const { world, ...rest } = coreWorld({ rules: { auto: true }, records: [aHeldRecord({ account })] });
    for (const name of ["a", "b"]) world.nodes.add(name);
    return { world, ...rest };
  };

  it("lets no node go where pods cannot be read", async () => {
    const { world, context } = aWorld();
    const pods = { list: () => Promise.reject(new Error("too slow")), limits: async () => [] };
    world.time = at(60);
    await sweep({ ...context(), pods });
    expect(world.nodes.held()).toEqual(["a", "b"]);
  });

  it("stops no look at the nodes, nor status", async () => {
    const { world, context, record } = aWorld();
    world.time = at(60);
    expect(JSON.stringify(await getStatus(context()))).not.toContain("left alone");
    await sweep(context());
    expect(record()?.account).toMatchObject({ at: at(60), leftAlone: {} });
  });
});
