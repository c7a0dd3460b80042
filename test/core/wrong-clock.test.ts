import { expect, it } from "vitest";
import { after, hours, seconds } from "../../lambda/core/duration.ts";
import { looksOf } from "../../lambda/core/looks.ts";
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
  expect(looksOf({ ...facts, nodes }).message).toBe(seconds(10));
});
