import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { fromAttributes } from "../../lambda/aws/dynamodb-values.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import { onHoldExpired } from "../../lambda/handlers/release.ts";
import { parseControlRequest, parseReleaseRequest } from "../../lambda/handlers/requests.ts";
import { readPastHold, readRecord } from "../../lambda/record/stored-records.ts";
import { World } from "../../simulator/world.ts";
import { FakeControl } from "../cli/fake-control.ts";
import { until } from "../support/context.ts";

/** What the code of 0.1.0 itself wrote; its requests are those of its command line. */
const old = JSON.parse(readFileSync(join(import.meta.dirname, "version-0.1.json"), "utf8"));
const stored = (item: Parameters<typeof fromAttributes>[0]) => ({ item: fromAttributes(item), where: "0.1" });

describe("functions of this version understand 0.1:", () => {
  it.each(old.requests as readonly Readonly<{ do: string }>[])(
    "the request %j of its command line",
    (request) => {
      expect(parseControlRequest(request)).toMatchObject({ do: request.do });
    },
  );

  it("its messages in the queue", () => {
    const [pending, launches] = old.messages.map((message: unknown) => parseMessage(JSON.stringify(message)));
    expect(pending).toMatchObject({ followUp: { kind: "pendingNodes", scope: "cluster", attempt: 1 } });
    expect(launches).toMatchObject({
      followUp: { kind: "launches", firstSeenAt: new Date("2026-11-21T12:00:00.000Z"), attempt: 1 },
    });
  });

  it("its records: a hold, a pause, a release, a past hold", () => {
    const { held, paused, released } = old.records;
    expect(readRecord(stored(held))).toMatchObject({
      scope: "cluster",
      hold: { state: "held", launches: 1 },
    });
    expect(readRecord(stored(paused))).toMatchObject({ quiet: "paused", quietBecause: "maintenance" });
    expect(readRecord(stored(released)).hold).toBeUndefined();
    expect(readPastHold(stored(old.past))).toMatchObject({ scope: "cluster", extensions: 1 });
  });

  it("its one-shot, which releases the nodes of its hold", async () => {
    expect(parseReleaseRequest(old.oneShot)).toMatchObject({ kind: "expired", scope: "cluster" });
    const world = new World({ extendOn: "launches" });
    const record = readRecord(stored(old.records.held));
    await world.holds.replace(record);
    world.nodes.add("a");
    world.nodes.mark("a", old.oneShot.holdId);
    expect(world.nodes.held(old.oneShot.holdId)).toEqual(["a"]);
    world.time = record.hold?.expiresAt ?? world.time;
    await onHoldExpired(world.ports)(old.oneShot, until(after(world.time, minutes(1))));
    expect(world.nodes.held(old.oneShot.holdId)).toEqual([]);
    expect(world.holds.records.get("cluster")?.hold).toBeUndefined();
  });
});

describe("the command line of this version understands functions of 0.1:", () => {
  let control: FakeControl | undefined;
  afterEach(() => control?.stop());

  it.each([
    ["status", "a node was launched in NodePool default"],
    ["history", "paused by hand: maintenance"],
    ["hold --reason test", "12:45:00"],
    ["pause --reason test", "Paused until"],
    ["resume", "Resumed cluster"],
    ["release --force", "Nothing is held"],
  ])("%s", async (words, expected) => {
    const [command = "", ...flags] = words.split(" ");
    control = await FakeControl.start(() => old.answers[command]);
    const { exit, output, reported } = await control.run(command, "--cluster", "prod", ...flags);
    expect({ exit, reported }).toEqual({ exit: 0, reported: "" });
    expect(output).toContain(expected);
  });
});
