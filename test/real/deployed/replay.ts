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

/** Launches that became dead letters because the table was unreachable at every delivery. */
export function replayCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  describe("dead letters", () => {
    beforeEach(async () => {
      await open().prod.empty();
      await open().prod.setRetryDelay(1);
    });
    afterEach(async () => {
      await open().prod.releaseAll();
      await open().prod.setRetryDelay(720);
    });

    /** Makes some launches dead letters; returns their instances when the table is reachable again. */
    async function deadLaunches(count: number): Promise<readonly string[]> {
      const { prod, emulator } = open();
      const restore = await forbid(emulator, prod, "hold", "dynamodb:GetItem");
      const instances: string[] = [];
      for (let i = 0; i < count; i++) instances.push(await prod.launch());
      // A message may contain several launches, and a launch may be in several messages.
      const areDead = async () =>
        (await prod.messagesIn("LaunchesQueue")) === 0 && (await prod.messagesIn("LaunchesDeadLetters")) > 0;
      await until("all launches to be dead letters", areDead, 120_000, 500);
      expect(await prod.marks()).toEqual({});
      await restore();
      return instances;
    }

    /** The runbook's `aws sqs start-message-move-task`. */
    async function redrive(queue = "LaunchesDeadLetters"): Promise<void> {
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

    it("are redriven by one command, and every launch among them is held, without a sweep", async () => {
      const { prod } = open();
      const instances = await deadLaunches(6);

      await redrive();
      const nodes = await Promise.all(instances.map((instance) => prod.join(instance)));

      await prod.untilMarked(nodes);
      expect(await prod.messagesIn("LaunchesDeadLetters")).toBe(0);
    });

    it.each(["LaunchesUndelivered", "FunctionsFailures"])(
      "cannot be redriven from another queue: SQS refuses %s",
      async (queue) => {
        await expect(redrive(queue)).rejects.toThrow("must be configured as a Dead Letter Queue");
      },
    );

    it("need no redrive for a launch to be held: one sweep finds it by its node", async () => {
      const { prod } = open();
      const [instance = ""] = await deadLaunches(1);
      const node = await prod.join(instance);

      await prod.invoke("sweep", {});

      expect(await prod.marks()).toHaveProperty(node);
      await prod.untilLogged("sweep", /launches were missed/);
      await redrive();
      const isEmpty = async () => (await prod.messagesIn("LaunchesDeadLetters")) === 0;
      await until("the dead letters to be redriven", isEmpty, 30_000, 250);
      expect((await prod.control({ do: "status" })).scopes).toMatchObject([{ launches: 1, extensions: 0 }]);
    });
  });
}
