import { expect } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { emptyRecord, type ScopeRecord } from "../../lambda/core/record.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../lambda/handlers/release.ts";
import { onSweepDue } from "../../lambda/handlers/sweep.ts";
import { type Fields, Kind } from "../../lambda/record/item-table.ts";
import { storedRecord } from "../../lambda/record/stored-holds.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { aHeldRecord, aHold } from "../support/builders.ts";
import { until } from "../support/context.ts";
import fc from "../support/fast-check.ts";
import { errorOf, fuzzed } from "./fuzz.ts";

const instance = { a: "i-0000000a", b: "i-0000000b" } as const;
const context = until(after(noon, minutes(60)));

/** A record as this version writes it. */
const stored = (record: ScopeRecord): Fields => storedRecord({ ...record, version: 2 }, noon);
const running = aHeldRecord({ looks: { oneShot: after(noon, minutes(20)) } });

const value = fc.constantFrom<Fields[string]>(
  undefined,
  "",
  "x".repeat(5_000),
  "+275760-09-14T00:00:00Z",
  -1,
  1.5,
  true,
  {},
);
/** A record that was edited by hand: a field is missing, of another type, or unknown. */
const odd = fc.tuple(fc.boolean(), fc.nat(), value).map(([inHold, which, other]): Fields => {
  const record = stored(running);
  const hold = { ...running.hold };
  const names = [...Object.keys(inHold ? hold : record), "unknown"];
  const field = { [names[which % names.length] ?? ""]: other };
  return inHold ? { ...record, hold: { ...hold, ...field } } : { ...record, ...field };
});

/** A world with an invalid record of one NodePool, and no record or a second one of the next. */
async function prepare(item: Fields, other?: Fields) {
  const world = new World({ scope: "nodepool" });
  const { ports, table } = world;
  await table.put(Kind.record, "nodepool/a", item);
  if (other) await table.put(Kind.record, "nodepool/b", other);
  const isReadable = (await ports.holds.find("nodepool/a"))?.unreadable === undefined;
  return { world, ports, isReadable };
}

fuzzed(
  "a sweep replaces a record that cannot be read, takes its marks off, and handles all others",
  async (item) => {
    const startedAt = after(noon, -minutes(21));
    const overdue = stored(
      aHeldRecord({
        hold: aHold({ id: holdId(2), startedAt }),
        launchHold: { startedAt, lastLaunchAt: startedAt },
      }),
    );
    const { world, ports, isReadable } = await prepare(item, overdue);
    for (const [n, pool] of ["a", "b"].entries()) {
      world.nodes.add(pool, { pool });
      world.nodes.mark(pool, holdId(n + 1));
    }

    expect(await errorOf(onSweepDue(ports)({}, context))).toBeUndefined();

    expect(world.nodes.get("b")?.labels).toEqual({});
    if (isReadable) return;
    expect(world.nodes.get("a")?.labels).toEqual({});
    expect(await ports.holds.find("nodepool/a")).toEqual({
      ...emptyRecord("nodepool/a"),
      version: expect.any(Number),
    });
  },
  { runs: 30, given: [odd] },
);

fuzzed(
  "a launch is held for, and so is one beside it, though its record cannot be read",
  async (item) => {
    const { world, ports, isReadable } = await prepare(item);
    for (const pool of ["a", "b"] as const) {
      world.ec2.add(instance[pool], noon, pool);
      world.nodes.add(pool, { pool });
    }
    const Records = [instance.a, instance.b].map((one, n) => ({
      messageId: `m-${n}`,
      body: JSON.stringify(launchEvent(one, noon)),
    }));

    expect(await errorOf(onNodeLaunched(ports)({ Records }, context))).toBeUndefined();

    expect(world.nodes.get("b")?.labels).not.toEqual({});
    if (!isReadable) expect(world.nodes.get("a")?.labels).not.toEqual({});
  },
  { runs: 30, given: [odd] },
);

fuzzed(
  "a one-shot whose record cannot be read releases nothing, and the record is written anew",
  async (item) => {
    const { ports, isReadable } = await prepare(item);
    if (isReadable) return;
    const answer = await onHoldExpired(ports)({ scope: "nodepool/a", holdId: holdId(1) }, context);
    expect(answer).toMatchObject({ released: 0, failed: 0 });
    expect(await ports.holds.find("nodepool/a")).not.toHaveProperty("unreadable");
  },
  { runs: 30, given: [odd] },
);
