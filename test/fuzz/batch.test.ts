import { expect } from "vitest";
import { BadInputError } from "../../lambda/core/errors.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { until } from "../support/context.ts";
import fc from "../support/fast-check.ts";
import { everythingIn, expectClear, fuzzed } from "./fuzz.ts";

const context = until(new Date(noon.getTime() + 60_000));
const anInstance = "i-0abcd1234ef567890";
const good = launchEvent(anInstance, noon);
const many = (item: string) => `[${Array.from({ length: 50_000 }, () => item).join(",")}]`;

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    7,
    { toString: 1 },
    ["a"],
    "",
    "{",
    "\u0000\ud800",
    "[".repeat(200_000),
    "x".repeat(1_000_000),
    `{"followUp":{"kind":"pendingNodes","scope":"cluster","attempt":1,"awaited":${many("1")}}}`,
    `{"followUp":{"kind":"launches","attempt":1e9,"firstSeenAt":"now","launches":${many('{"instance":7}')}}}`,
    '{"followUp":{"__proto__":{"kind":"pendingNodes"}}}',
    '{"source":{"toString":1},"detail":[]}',
    '{"hold":{"cause":"hand","for":"99h","scope":"nodepool/..","reason":"\\u001b[2J","at":7}}',
    '{"source":"karpenter-node-holder.probe","detail":{"id":"../a","sentAt":"+275760-09-13T00:00:00Z"}}',
  ),
  fc.json(),
  // Valid except for one field, which has any JSON value.
  fc
    .tuple(fc.constantFrom("source", "time", "detail"), fc.jsonValue())
    .map(([name, value]) => JSON.stringify({ ...good, [name]: value })),
);
const attributes = fc.constantFrom<unknown>(
  undefined,
  null,
  7,
  { SentTimestamp: { toString: 1 } },
  { SentTimestamp: "9".repeat(400) },
  { SentTimestamp: "-1" },
);

const canBeRead = (body: unknown): boolean => {
  try {
    parseMessage(body);
    return true;
  } catch (error) {
    expectClear(error, [BadInputError], []);
    return false;
  }
};

fuzzed(
  "a batch loses only messages that cannot be read",
  async (oddOnes) => {
    const world = new World();
    world.ec2.add(anInstance, noon, "default");
    world.nodes.add("a");
    const bodies = [...oddOnes, [JSON.stringify(good), undefined]];
    const Records = bodies.map(([body, attributes], n) => ({ messageId: `m-${n}`, body, attributes }));

    const { batchItemFailures } = await onNodeLaunched(world.ports)({ Records }, context);

    const unreadable = Records.filter(({ body }) => !canBeRead(body)).map(({ messageId }) => messageId);
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(unreadable);
    expect(world.holds.records.get("cluster")?.hold).toMatchObject({ id: expect.any(String) });
    expect(world.nodes.get("a")?.labels).not.toEqual({});
    const reported = world.log.reported("message cannot be read: it goes to the dead-letter queue");
    expect(everythingIn(reported).length).toBeLessThan(5_000 * oddOnes.length);
  },
  { runs: 100, given: [fc.array(fc.tuple(odd, attributes), { minLength: 1, maxLength: 5 })] },
);
