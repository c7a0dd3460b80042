import { describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { metricNamespace } from "../../../lambda/core/metrics.ts";
import { until } from "../engines/processes.ts";
import type { AlarmWorld } from "./alarms.ts";
import { ageRecord, forbid } from "./damage.ts";
import { Watch } from "./watch.ts";

/** Must run last: by then every metric except a few should have been recorded. */
export function dashboardCases(open: () => AlarmWorld): void {
  const watch = () => new Watch(open().emulator, open().watched.name);

  describe("metrics", () => {
    it("count a launch that the hold function cannot record and which the sweep holds", async () => {
      const { watched, emulator } = open();
      await watched.releaseAll();
      await forbid(emulator, watched, "hold", "dynamodb:GetItem");

      const node = await watched.join(await watched.launch());
      // EC2 returns the instance's tags only some seconds after its launch; until then no sweep can find it.
      const isHeld = async () => {
        await watched.invoke("sweep", {});
        return (await watched.marks())[node] !== undefined;
      };
      await until("a sweep to hold the node", isHeld, 45_000, 1_000);
      await watched.untilLogged("sweep", /launches were missed/);
    });

    it("count a hold that its cap ends", async () => {
      const { watched, emulator } = open();
      // A request that goes beyond the cap of a hold that is on would cap that one.
      await watched.releaseAll();
      await watched.control({ do: "hold", for: "2h", reason: "test" });
      await ageRecord(emulator, watched, minutes(119.5));

      await watched.launch();

      await watched.untilLogged("hold", /"action":"cap"/);
      await watched.releaseAll();
    });

    it("exist with exactly the names and dimensions that alarms and dashboard use", async () => {
      const watched = await watch().watched();
      const drawn = await watch().drawn();
      expect([watched.length, new Set(drawn).size]).toEqual([13, 18]);
      // These need real Karpenter; the suite `karpenter` checks them.
      const ofKarpenter = /ReplacementsIgnored|HoldsExtendedByUse|RightsMissing/;
      // The load here is too low for throttling.
      const throttled = `${metricNamespace} ApiThrottled Cluster=${open().watched.name}`;

      let missing: string[] = [];
      const areRecorded = async () => {
        const recorded = new Set(await watch().recorded());
        missing = [...watched, ...drawn].filter((one) => !recorded.has(one) && !ofKarpenter.test(one));
        return missing.length === 1;
      };
      await until("metrics", areRecorded, 60_000, 500).catch(() => undefined);

      expect(missing).toEqual([throttled]);
    });
  });
}
