import { KubernetesObjectApi } from "@kubernetes/client-node";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Part } from "../../../infra/names.ts";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { launchEvent } from "../../../simulator/fake-ec2.ts";
import { allAwsBehaviour, type Emulator } from "../emulator/emulator.ts";
import { patience } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";
import { ageRecord, forbid, forbidInCluster } from "./damage.ts";
import { Watch } from "./watch.ts";

type AlarmWorld = Readonly<{ watched: DeployedCluster; emulator: Emulator }>;

/** Long enough that a launch event more than a minute late still holds; sweeps run only when a test invokes them. */
export const watchedSettings = { hold: "90s", sweepEvery: "1h" } as const;

/** The evaluation window of alarms when sweeps run hourly, and a minute more. */
const alarmPeriod = minutes(66);

/** Each failure sets off its own alarm and no other; normal operation sets off none. */
export function alarmCases(open: () => AlarmWorld): void {
  const watch = () => new Watch(open().emulator, open().watched.name);
  const sweep = () => open().watched.invoke("sweep", {});
  const threeTimes = async (work: () => Promise<unknown>) => {
    for (let i = 0; i < 3; i++) await work();
  };
  const inThreePeriods = (work: () => Promise<unknown>) =>
    threeTimes(async () => {
      open().emulator.advanceAlarms(alarmPeriod);
      await work();
    });

  describe("alarms", () => {
    it("a deployment counts as a sweep, so that no alarm is on before the first sweep has run", async () => {
      await expect
        .poll(() => watch().states(), { timeout: patience })
        .toMatchObject({ "sweep-silent": "OK" });
      await watch().untilOn();
    });

    it("no alarm is on after launches, an extension, a release on time and sweeps", async () => {
      await open().watched.untilReleased();

      await inThreePeriods(sweep);

      await watch().untilOn();
      const states = await watch().states();
      expect(Object.keys(states)).toHaveLength(14);
      expect(new Set(Object.values(states))).toEqual(new Set(["OK"]));
      expect(await watch().everOn()).toEqual([]);
    });
  });

  describe("exactly one alarm goes off", () => {
    beforeEach(async () => {
      const { watched, emulator } = open();
      await watched.setRetryDelay(4);
      await watched.releaseAll();
      await watched.empty();
      emulator.advanceAlarms(hours(24));
      await sweep();
      await watch().untilOn();
    });

    const failing: Record<string, () => Promise<unknown>> = {
      hold: () => open().watched.launch(),
      release: () => threeTimes(() => open().watched.invoke("release", { force: true, reason: "test" })),
      sweep: () => threeTimes(sweep),
      control: () => threeTimes(() => open().watched.control({ do: "status" })),
    };
    it.each<[part: Part, action: string]>([
      ["hold", "ec2:DescribeInstances"],
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

    it("when the cluster refuses every change of nodes", async () => {
      const { watched } = open();
      const restore = await forbidInCluster(watched, "patch");

      await watched.control({ do: "hold", for: "10m", reason: "test" });
      await inThreePeriods(sweep);

      await watch().untilOn("patches-failing");
      await watched.untilLogged("sweep", /a node could not be changed/);
      await restore();
    });

    it("when the cluster does not give every right", async () => {
      const { watched } = open();
      await forbidInCluster(watched, "list", "nodeclaims");

      await watched.control({ do: "hold", for: "10m", reason: "test" });
      await inThreePeriods(sweep);

      await watch().untilOn("rights-missing");
      await watched.untilLogged("sweep", /has not given the holder all of its rights/);
    });

    it("when a message can never be handled", async () => {
      await open().watched.setRetryDelay(1);
      await open().watched.send("poison");

      await watch().untilOn("dead-letters-launches");
    });

    it("when Lambda gives a release up", async () => {
      const { watched, emulator } = open();
      await forbid(emulator, watched, "release", "dynamodb:GetItem");

      await watched.invokeAsync("release", { force: true, reason: "test" });

      await watch().untilOn("dead-letters-invocations", "function-errors-release");
    });

    it("when the bus could not deliver an event", async () => {
      await open().watched.send("undelivered", "LaunchesUndelivered");

      await watch().untilOn("dead-letters-events");
    });

    it("when a launch is delivered late", async () => {
      const { watched, emulator } = open();
      // The test itself decides when the event arrives.
      onTestFinished(() => emulator.setBehaviour(allAwsBehaviour));
      emulator.setBehaviour(allAwsBehaviour.filter((one) => one !== "events-unordered"));
      const instance = await watched.launch();
      await watched.untilMarked(["node-1"]);
      await watched.releaseAll();
      // Launches before a release by hand do not count, so move the release into the past too.
      await ageRecord(emulator, watched, hours(2));
      emulator.advanceAlarms(hours(2));
      await sweep();

      await watched.send(JSON.stringify(launchEvent(instance, after(new Date(), -seconds(70)))));

      await watch().untilOn("slow-protection");
    });

    it("when a hold cannot be released for hours", async () => {
      const { watched, emulator } = open();
      await watched.control({ do: "hold", for: "1h", reason: "test" });
      await watched.untilMarked(["node-1"]);
      const restore = await forbidInCluster(watched, "patch");
      await ageRecord(emulator, watched, hours(5));

      await sweep();

      await watch().untilOn("release-overdue");
      await restore();
      await sweep();
      expect(await watched.marks()).toEqual({});
    });

    it("when orphaned marks appear again and again", async () => {
      const { watched } = open();
      const metadata = {
        labels: { [holdLabel]: "20200101t000000-orphan" },
        annotations: { [Karpenter.v1.annotation]: "true" },
      };

      await inThreePeriods(async () => {
        const body = { kind: "Node", apiVersion: "v1", metadata: { name: "node-1", ...metadata } };
        await KubernetesObjectApi.makeApiClient(watched.config).patch(body);
        expect(await watched.marks()).toEqual({ "node-1": "20200101t000000-orphan" });
        await sweep();
        expect(await watched.marks()).toEqual({});
      });

      await watch().untilOn("marks-orphaned");
    });

    it("when the sweep is silent, until it runs", async () => {
      open().emulator.advanceAlarms(4 * alarmPeriod);
      await watch().untilOn("sweep-silent");
      await sweep();
      await watch().untilOn();
    });
  });
}
