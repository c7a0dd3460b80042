import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Emulator } from "../emulator/emulator.ts";
import { until } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";
import { forbid } from "./rights.ts";

/** Launches of which nobody heard, because the table was out of reach for all deliveries. */
export function replayCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  describe("dead letters", () => {
    beforeEach(async () => {
      await open().prod.empty();
      await open().prod.bringAgainAfter(1);
    });
    afterEach(async () => {
      await open().prod.releaseAll();
      await open().prod.bringAgainAfter(720);
    });

    /** Some launches end among the dead letters; returns their instances when the table can be reached again. */
    async function unheardLaunches(count: number): Promise<readonly string[]> {
      const { prod, emulator } = open();
      const restore = await forbid(emulator, prod, "hold", "dynamodb:GetItem");
      const instances: string[] = [];
      for (let i = 0; i < count; i++) instances.push(await prod.launch());
      // One message may carry several launches, and a launch may come in several messages.
      const areDead = async () =>
        (await prod.messagesIn("LaunchesQueue")) === 0 && (await prod.messagesIn("LaunchesDeadLetters")) > 0;
      await until("all launches to be dead letters", areDead, 120_000, 500);
      expect(await prod.marks()).toEqual({});
      await restore();
      return instances;
    }

    /** What `aws sqs start-message-move-task` of the runbook does. */
    async function handBack(queue = "LaunchesDeadLetters"): Promise<void> {
      const { prod, emulator } = open();
      const sqs = emulator.client(SQSClient);
      const prefix = `karpenter-node-holder-${prod.name}-`;
      const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: prefix }));
      const QueueUrl = QueueUrls.find((url) => url.includes(queue));
      const { Attributes } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] }),
      );
      await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: Attributes?.QueueArn }));
    }

    it("are handed back by one command, and every launch among them is held, without a sweep", async () => {
      const { prod } = open();
      const instances = await unheardLaunches(6);

      await handBack();
      const nodes = await Promise.all(instances.map((instance) => prod.join(instance)));

      await prod.untilMarked(nodes);
      expect(await prod.messagesIn("LaunchesDeadLetters")).toBe(0);
    });

    it.each(["LaunchesUndelivered", "FunctionsFailures"])(
      "can be handed back from no other queue: SQS refuses %s",
      async (queue) => {
        await expect(handBack(queue)).rejects.toThrow("must be configured as a Dead Letter Queue");
      },
    );

    it("need not be handed back for a launch to be held: one sweep finds it by its node", async () => {
      const { prod } = open();
      const [instance = ""] = await unheardLaunches(1);
      const node = await prod.join(instance);

      await prod.invoke("sweep", {});

      expect(await prod.marks()).toHaveProperty(node);
      await prod.untilLogged("sweep", /launches were missed/);
      await handBack();
      const isEmpty = async () => (await prod.messagesIn("LaunchesDeadLetters")) === 0;
      await until("the dead letters to be handed back", isEmpty, 30_000, 250);
      expect((await prod.control({ do: "status" })).scopes).toMatchObject([{ launches: 1, extensions: 0 }]);
    });
  });
}
