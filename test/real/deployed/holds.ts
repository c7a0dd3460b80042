import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { DeleteScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterEach, describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { clusterTag, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { probeDetailType, probeSource } from "../../../lambda/handlers/event-sources.ts";
import { scheduleGroupName } from "../../../lambda/names.ts";
import type { Emulator } from "../emulator/emulator.ts";
import { until } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";
import { tagsOf } from "./instances.ts";

type World = Readonly<{ prod: DeployedCluster; legacy: DeployedCluster; emulator: Emulator }>;

/** Holds from launch to release, started by events and by operators. */
export function holdCases(open: () => World): void {
  const { annotation } = Karpenter["v0.31"];

  describe("on another cluster of the account", () => {
    it("a launch of Karpenter v0.31 is held with its own annotation", async () => {
      const { prod, legacy, emulator } = open();
      const node = await legacy.join(await legacy.launch(tagsOf["v0.31"]("legacy")), "v0.31");
      await legacy.untilMarked([node], annotation);

      const GroupName = scheduleGroupName("legacy");
      const [Name] = await legacy.schedules();
      await emulator.client(SchedulerClient).send(new DeleteScheduleCommand({ GroupName, Name }));

      expect(await legacy.schedules()).toEqual([]);
      expect((await prod.control({ do: "status" })).scopes).toEqual([]);
    });
  });

  describe("launches", () => {
    afterEach(async () => {
      await open().prod.releaseAll();
    });

    it.each(["v1", "v0.32"] as const)(
      "of Karpenter %s start a hold: existing nodes are marked, and a new node once it joins",
      async (generation) => {
        const { prod } = open();
        const present = await prod.join("i-0123456789abcdef0");

        const instance = await prod.launch(tagsOf[generation]("prod"));
        const hold = await prod.untilMarked([present]);
        const joined = await prod.join(instance);

        expect(await prod.untilMarked([joined])).toBe(hold);
        expect((await prod.control({ do: "status" })).scopes).toMatchObject([{ state: "held", launches: 1 }]);
      },
    );

    /** Sends a probe, which is delivered after the launches before it. */
    const untilProbed = async () => {
      const { prod, emulator } = open();
      const id = "after-launches";
      const Detail = JSON.stringify({ id, cluster: prod.name, sentAt: new Date().toISOString() });
      const Entries = [{ Source: probeSource, DetailType: probeDetailType, Detail }];
      await emulator.client(EventBridgeClient).send(new PutEventsCommand({ Entries }));
      const isAnswered = async () => (await prod.control({ do: "probe", id })).probe !== null;
      await until("the probe to be answered", isAnswered, 30_000, 500);
    };

    it("that are not Karpenter's, or of another cluster, start nothing", async () => {
      const { prod } = open();

      await prod.launch({});
      await prod.launch({ [clusterTag("prod")]: "owned", "eks:nodegroup-name": "default" });
      await prod.launch(tagsOf.v1("elsewhere"));
      await untilProbed();

      await prod.untilLogged("hold", /LaunchesIgnored/);
      expect((await prod.control({ do: "status" })).scopes).not.toContainEqual(
        expect.objectContaining({ state: "held" }),
      );
      expect(await prod.marks()).toEqual({});
    });
  });

  describe("operators", () => {
    it("release by invoking the function, which returns the number of nodes, also when it is zero", async () => {
      const { prod } = open();
      const nodes = (await prod.core.listNode()).items.map(({ metadata }) => metadata?.name ?? "");
      await prod.launch();
      await prod.untilMarked(nodes);

      const released = await prod.releaseAll();
      const again = await prod.releaseAll();

      expect(released.answer).toMatchObject({ released: nodes.length, failed: 0 });
      expect(again.answer).toMatchObject({ released: 0, because: "nothing is held" });
      expect(await prod.marks()).toEqual({});
    });
  });

  it("the sweep of the other cluster replaces the schedule that was deleted, and no launch here counted there", async () => {
    const { legacy } = open();
    await legacy.untilReleased(minutes(3), annotation);
    // The record is closed a moment after the last mark was removed.
    const past = async () => Object((await legacy.control({ do: "history" })).holds);
    await until("the hold to be over", async () => (await past()).length > 0);
    expect(await past()).toMatchObject([{ launches: 1 }]);
  });
}
