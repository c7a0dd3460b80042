import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from "@aws-sdk/client-eventbridge";
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { account, type Emulator, region } from "../emulator/emulator.ts";
import { patience, until } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";
import { ageRecord, forbid } from "./damage.ts";

type HoldEvent = Readonly<{ id: string; "detail-type": string; detail: Readonly<Record<string, unknown>> }>;

/** What somebody else's rule on the default bus receives. */
export function eventCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  it("each start, extension and end of a hold is put on the bus once, by the role of the function that did it", async () => {
    const { prod, emulator } = open();
    const node = await prod.join("i-0fedcba9876543210");
    const received = await listen(emulator, prod.name);

    await prod.launch();
    const holdId = await prod.untilMarked([node]);
    await prod.control({ do: "hold", for: "10m", reason: "test" });
    // A hold that is released right after a launch ends a minute later.
    await ageRecord(emulator, prod, minutes(2));
    await prod.releaseAll();

    // The emulator's bus delivers each event twice, in any order, and those of an earlier hold perhaps only now.
    const types = ["Hold Started", "Hold Extended", "Hold Ended"];
    const deliveries = await received(holdId, 2 * types.length);
    const events = new Map(deliveries.map((event) => [event.id, event]));
    expect([...events.values()].map((event) => event["detail-type"]).toSorted()).toEqual(types.toSorted());
    for (const { detail } of events.values()) expect(detail).toMatchObject({ version: 1 });
    const ended = deliveries.find((event) => event["detail-type"] === "Hold Ended");
    expect(ended?.detail).toMatchObject({
      launches: { default: 1 },
      requests: ["test"],
      endedBecause: "released by hand: test",
    });
  });

  it("a role that may not put events holds and releases all the same, and its log names the right", async () => {
    const { prod, emulator } = open();
    const restore = await forbid(emulator, prod, "control", "events:PutEvents");

    expect(await prod.control({ do: "hold", reason: "test" })).toMatchObject({ holdId: expect.any(String) });

    await prod.untilLogged(
      "control",
      /events could not be sent.*not authorized to perform: events:PutEvents/,
    );
    await restore();
    await prod.releaseAll();
  });
}

/** A queue as the target of a rule; returns what waits for so many messages about a hold. */
async function listen(emulator: Emulator, cluster: string) {
  const [sqs, bus] = [emulator.client(SQSClient), emulator.client(EventBridgeClient)];
  const name = `holds-of-${cluster}`;
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  const EventPattern = JSON.stringify({ source: ["karpenter-node-holder"], detail: { cluster: [cluster] } });
  await bus.send(new PutRuleCommand({ Name: name, EventPattern }));
  const Arn = `arn:aws:sqs:${region}:${account}:${name}`;
  await bus.send(new PutTargetsCommand({ Rule: name, Targets: [{ Id: "queue", Arn }] }));
  const events: HoldEvent[] = [];
  return async (holdId: string, count: number): Promise<readonly HoldEvent[]> => {
    const ofHold = () => events.filter(({ detail }) => detail.holdId === holdId);
    const areThere = async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      );
      events.push(...Messages.map(({ Body = "" }): HoldEvent => JSON.parse(Body)));
      return ofHold().length >= count;
    };
    await until(`${count} events`, areThere, patience, 250);
    return ofHold();
  };
}
