import { expect, it } from "vitest";
import { stillHeld } from "../../local/run/still-held.ts";
import { at } from "../core/plans.ts";
import { aHeldRecord, aRequest } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";

it("what is still marked for a hold that a pause has ended is held until then, not until a request's end", async () => {
  const record = aHeldRecord({ requests: [aRequest({ until: at(60) })] });
  const until = async (ended = false) => {
    const hold = record.hold && { ...record.hold, ...(ended && { ended: { at: at(5), because: "paused" } }) };
    const { world, context } = coreWorld({ records: [{ ...record, ...(hold && { hold }) }] });
    world.nodes.add("a");
    world.nodes.mark("a", record.hold?.id ?? "");
    const { holds, nodes, rules } = context();
    return stillHeld({ holds, nodes, rules }, context());
  };
  expect(await until()).toEqual({ nodes: 1, until: at(60) });
  expect(await until(true)).toEqual({ nodes: 1, until: at(5) });
});
