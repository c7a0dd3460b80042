import { expect } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import type { Hold } from "../../lambda/core/holds/hold.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../lambda/handlers/release.ts";
import { onOverdueSwept } from "../../lambda/handlers/sweep.ts";
import { Kind } from "../../lambda/record/item-keys.ts";
import type { Fields } from "../../lambda/record/item-table.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { aHold } from "../support/builders.ts";
import { until } from "../support/context.ts";
import fc from "../support/fast-check.ts";
import { errorOf, expectClear, fuzzed } from "./fuzz.ts";

const instance = { a: "i-0000000a", b: "i-0000000b" } as const;
const context = until(after(noon, minutes(60)));

/** A record as this version writes it. */
const stored = (hold: Hold): Fields => ({ version: 3, lastLaunchAt: noon, hold });
const running = aHold({
  id: holdId(1),
  armedFor: after(noon, minutes(20)),
  unprotected: true,
  expiresAt: after(noon, minutes(20)),
});

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
/** A record of another version, or written by hand: a field is missing, of another type, or unknown. */
const odd = fc.tuple(fc.boolean(), fc.nat(), value).map(([inHold, which, other]): Fields => {
  const record = stored(running);
  const names = [...Object.keys(inHold ? running : record), "unknown"];
  const field = { [names[which % names.length] ?? ""]: other };
  return inHold ? { ...record, hold: { ...running, ...field } } : { ...record, ...field };
});

/** A world with an invalid record of one NodePool, and no record or a second one of the next. */
async function prepare(item: Fields, other?: Fields) {
  const world = new World({ scope: "nodepool" });
  const { ports, table } = world;
  await table.put(Kind.record, "nodepool/a", item);
  if (other) await table.put(Kind.record, "nodepool/b", other);
  const read = async () => (await table.find(Kind.record, "nodepool/a"))?.item;
  const before = await read();
  const expectKept = async () => expect(await read()).toEqual(before);
  const isReadable = (await errorOf(world.holds.find("nodepool/a"))) === undefined;
  return { world, ports, expectKept, isReadable };
}

function expectNamed(error: unknown): void {
  for (const one of error instanceof AggregateError ? error.errors : [error]) {
    expectClear(one, [BrokenSetupError], []);
    expect(String(one)).toMatch(/record nodepool\/a: [\w.]+ must be .*Release nodepool\/a by hand/s);
  }
}

fuzzed(
  "a record that cannot be read is named and not changed, and the sweep handles all others",
  async (item) => {
    const overdue = stored(aHold({ id: holdId(2), expiresAt: after(noon, -minutes(1)) }));
    const { world, ports, expectKept, isReadable } = await prepare(item, overdue);
    const mine = { "karpenter-node-holder/hold": holdId(2) };
    world.nodes.add("b", {
      pool: "b",
      labels: mine,
      annotations: { "karpenter.sh/do-not-disrupt": "true" },
    });

    const error = await errorOf(onOverdueSwept(ports)({}, context));

    expect(world.nodes.get("b")?.labels).toEqual({});
    if (isReadable) {
      expect(error).toBeUndefined();
      return;
    }
    expectNamed(error);
    await expectKept();
  },
  { runs: 30, given: [odd] },
);

fuzzed(
  "a launch beside one whose record cannot be read is held",
  async (item) => {
    const { world, ports, expectKept, isReadable } = await prepare(item);
    for (const pool of ["a", "b"] as const) world.ec2.add(instance[pool], noon, pool);
    world.nodes.add("b", { pool: "b" });
    const Records = [instance.a, instance.b].map((one, n) => ({
      messageId: `m-${n}`,
      body: JSON.stringify(launchEvent(one, noon)),
    }));

    const error = await errorOf(onNodeLaunched(ports)({ Records }, context));

    expect(world.nodes.get("b")?.labels).not.toEqual({});
    if (isReadable) return;
    expectNamed(error);
    await expectKept();
  },
  { runs: 30, given: [odd] },
);

fuzzed(
  "a release whose record cannot be read changes nothing",
  async (item) => {
    const { ports, expectKept, isReadable } = await prepare(item);
    if (isReadable) return;
    expectNamed(await errorOf(onHoldExpired(ports)({ scope: "nodepool/a", holdId: holdId(1) }, context)));
    await expectKept();
  },
  { runs: 30, given: [odd] },
);
