import {
  DisableRuleCommand,
  EnableRuleCommand,
  EventBridgeClient,
  ListRulesCommand,
} from "@aws-sdk/client-eventbridge";
import { describe, expect, it, onTestFinished } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { metricNamespace } from "../../../lambda/core/metrics.ts";
import { until } from "../engines/processes.ts";
import type { AlarmWorld } from "./alarms.ts";
import { letRecordAge } from "./record.ts";
import { Watch } from "./watch.ts";

/** Comes last: by then everything that a holder can meet has been told once. */
export function dashboardCases(open: () => AlarmWorld): void {
  const watch = () => new Watch(open().emulator, open().watched.name);

  describe("metrics", () => {
    it("tell of a launch that no event told of, which the sweep holds", async () => {
      const { watched } = open();
      await watched.releaseAll();
      await muteBus();

      const node = await watched.join(await watched.launch());
      // EC2 tells the instance's tags some seconds after its launch, and no sweep finds it sooner.
      const isHeld = async () => {
        await watched.invoke("sweep", {});
        return (await watched.marks())[node] !== undefined;
      };
      await until("a sweep to hold the node", isHeld, 45_000, 1_000);
      await watched.untilLogged("sweep", /launches were missed/);
    });

    it("tell of a hold that its cap cuts short", async () => {
      const { watched, emulator } = open();
      await watched.control({ do: "hold", for: "2h", reason: "test" });
      await letRecordAge(emulator, watched.name, minutes(119.5));

      await watched.launch();

      await watched.untilLogged("hold", /"action":"cap"/);
      await watched.releaseAll();
    });

    it("are all told that alarms look at and the dashboard draws, under exactly these names and dimensions", async () => {
      const watched = await watch().watched();
      const drawn = await watch().drawn();
      expect([watched.length, new Set(drawn).size]).toEqual([13, 18]);
      // Only with real Karpenter, in the suite `karpenter`.
      const ofKarpenter = /ReplacementsIgnored|HoldsExtendedByUse|RightsMissing/;
      // Nothing here is busy enough to throttle anybody.
      const throttled = `${metricNamespace} ApiThrottled Cluster=${open().watched.name}`;

      let untold: string[] = [];
      const areTold = async () => {
        const told = new Set(await watch().told());
        untold = [...watched, ...drawn].filter((one) => !told.has(one) && !ofKarpenter.test(one));
        return untold.length === 1;
      };
      await until("metrics", areTold, 15_000, 500).catch(() => undefined);

      expect(untold).toEqual([throttled]);
    });
  });

  /** Until the test is over the bus delivers no launch. */
  async function muteBus(): Promise<void> {
    const bus = open().emulator.client(EventBridgeClient);
    const { Rules = [] } = await bus.send(new ListRulesCommand({}));
    const ofLaunches = `karpenter-node-holder-${open().watched.name}-HolderLaunches`;
    const Name = Rules.map((rule) => rule.Name).find((name) => name?.startsWith(ofLaunches));
    onTestFinished(async () => {
      await bus.send(new EnableRuleCommand({ Name }));
    });
    await bus.send(new DisableRuleCommand({ Name }));
  }
}
