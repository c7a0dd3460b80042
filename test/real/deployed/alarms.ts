import { KubernetesObjectApi } from "@kubernetes/client-node";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { Part } from "../../../lambda/names.ts";
import { type Emulator, unkindBehaviour } from "../emulator/emulator.ts";
import type { DeployedCluster } from "./cluster.ts";
import { letRecordAge } from "./record.ts";
import { forbid, forbidInCluster } from "./rights.ts";
import { type Pager, Watch } from "./watch.ts";

export type AlarmWorld = Readonly<{ watched: DeployedCluster; pager: Pager; emulator: Emulator }>;

/** So that launches can be told more than a minute late and still hold; sweeps come only when asked for. */
export const watchedSettings = { hold: "90s", sweepEvery: "1h" } as const;

/** As long as alarms look at where sweeps are an hour apart, and a minute more. */
const aPeriod = minutes(66);

/** What is wrong is told by its own alarm and by no other, and what is right by none. */
export function alarmCases(open: () => AlarmWorld): void {
  const watch = () => new Watch(open().emulator, open().watched.name);
  const sweep = () => open().watched.invoke("sweep", {});
  const thrice = async (work: () => Promise<unknown>) => {
    for (let i = 0; i < 3; i++) await work();
  };
  const inThreePeriods = (work: () => Promise<unknown>) =>
    thrice(async () => {
      open().emulator.letAlarmsAge(aPeriod);
      await work();
    });

  describe("alarms", () => {
    it("a new deployment's sweep is called silent until the first one has run, and nothing else is on", async () => {
      await watch().untilOn("sweep-silent");

      await sweep();

      await watch().untilOn();
    });

    it("none is on after launches, an extension, a release on time and sweeps", async () => {
      await open().watched.untilReleased(minutes(3));

      await inThreePeriods(sweep);

      await watch().untilOn();
      const states = await watch().states();
      expect(Object.keys(states)).toHaveLength(13);
      expect(new Set(Object.values(states))).toEqual(new Set(["OK"]));
      const told = await open().pager.told();
      expect(told.filter((one) => one.startsWith("ALARM"))).toEqual([
        expect.stringContaining("sweep-silent"),
      ]);
    });
  });

  describe("an alarm goes off, and no other", () => {
    beforeEach(async () => {
      const { watched, emulator } = open();
      await watched.bringAgainAfter(4);
      await watched.releaseAll();
      await watched.empty();
      emulator.letAlarmsAge(hours(24));
      await sweep();
      await watch().untilOn();
    });

    const failing: Record<string, () => Promise<unknown>> = {
      hold: () => open().watched.launch(),
      release: () => thrice(() => open().watched.invoke("release", { force: true, reason: "test" })),
      sweep: () => thrice(sweep),
      control: () => thrice(() => open().watched.control({ do: "status" })),
    };
    it.each<[part: Part, action: string]>([
      ["hold", "ec2:DescribeInstances"],
      ["hold", "sqs:SendMessage"],
      ["release", "dynamodb:PutItem"],
      ["sweep", "dynamodb:Query"],
      ["control", "dynamodb:Query"],
    ])("when the role of %s lacks %s, which its log names", async (part, action) => {
      const { watched, emulator } = open();
      await forbid(emulator, watched, part, action);

      await failing[part]?.();

      await watch().untilOn(`function-errors-${part}`);
      await watched.untilLogged(part, new RegExp(`not authorized to perform: ${action}`));
    });

    it("when the cluster lets nobody change nodes any more", async () => {
      const { watched } = open();
      const restore = await forbidInCluster(watched, "patch");

      await watched.control({ do: "hold", for: "10m", reason: "test" });
      await inThreePeriods(sweep);

      await watch().untilOn("patches-failing");
      await watched.untilLogged("sweep", /a node could not be changed/);
      await restore();
    });

    it("when a launch can never be handled", async () => {
      await open().watched.bringAgainAfter(1);
      await open().watched.send("poison");

      await watch().untilOn("dead-letters-launches");
    });

    it("when a release is given up", async () => {
      const { watched, emulator } = open();
      await forbid(emulator, watched, "release", "dynamodb:GetItem");

      await watched.invokeLater("release", { force: true, reason: "test" });

      await watch().untilOn("dead-letters-invocations", "function-errors-release");
    });

    it("when the bus could not deliver an event", async () => {
      await open().watched.send("undelivered", "LaunchesUndelivered");

      await watch().untilOn("dead-letters-events");
    });

    it("when a launch is delivered late", async () => {
      const { watched, emulator } = open();
      // Here the test itself decides when the event arrives.
      onTestFinished(() => emulator.setUnkind(unkindBehaviour));
      emulator.setUnkind(unkindBehaviour.filter((one) => one !== "events-unordered"));
      const instance = await watched.launch();
      await watched.untilMarked(["node-1"]);
      await watched.releaseAll();
      // What was released by hand stays released, so time before it is gone as well.
      await letRecordAge(emulator, watched.name, hours(2));
      emulator.letAlarmsAge(hours(2));
      await sweep();

      await watched.send(anEvent(instance, after(new Date(), -seconds(70))));

      await watch().untilOn("slow-protection");
    });

    it("when a hold cannot be released for hours", async () => {
      const { watched, emulator } = open();
      await watched.control({ do: "hold", for: "1h", reason: "test" });
      await watched.untilMarked(["node-1"]);
      const restore = await forbidInCluster(watched, "patch");
      await letRecordAge(emulator, watched.name, hours(5));

      await sweep();

      await watch().untilOn("hold-over-cap", "release-overdue");
      await restore();
      await sweep();
      expect(await watched.marks()).toEqual({});
    });

    it("when marks of no hold come again and again", async () => {
      const { watched } = open();
      const metadata = {
        labels: { [holdLabel]: "20200101t000000-nobody" },
        annotations: { [Karpenter.v1.annotation]: "true" },
      };

      await inThreePeriods(async () => {
        const body = { kind: "Node", apiVersion: "v1", metadata: { name: "node-1", ...metadata } };
        await KubernetesObjectApi.makeApiClient(watched.config).patch(body);
        expect(await watched.marks()).toEqual({ "node-1": "20200101t000000-nobody" });
        await sweep();
        expect(await watched.marks()).toEqual({});
      });

      await watch().untilOn("marks-orphaned");
    });

    it("when the sweep is silent, and again when it is over", async () => {
      const { emulator, pager } = open();
      const before = (await pager.told()).length;

      emulator.letAlarmsAge(4 * aPeriod);
      await watch().untilOn("sweep-silent");
      await sweep();
      await watch().untilOn();

      const alarm = `"karpenter-node-holder-watched-sweep-silent" in us-east-1`;
      expect((await pager.told()).slice(before)).toEqual([`ALARM: ${alarm}`, `OK: ${alarm}`]);
    });
  });
}

const anEvent = (instance: string, time: Date): string =>
  JSON.stringify({
    source: "aws.ec2",
    "detail-type": "EC2 Instance State-change Notification",
    time: time.toISOString(),
    detail: { "instance-id": instance, state: "pending" },
  });
