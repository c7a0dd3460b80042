import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { newestKarpenter } from "../engines/build.ts";
import { buildLab, labVersions, testLab } from "../engines/build-lab.ts";
import { engineFolder } from "../runner/run-folder.ts";

/** Half an hour with bursts that need nodes of their own, and a drift of all nodes. */
const config = {
  trace: {
    lasts: 1_800,
    services: [{ name: "web", replicas: 4, cpu: "500m", memory: "256Mi", pdb: { maxUnavailable: 1 } }],
    jobs: [60, 90, 120].map((at) => ({ name: `job-${at}`, at, runs: 60, cpu: 3 })),
    daemons: [{ name: "proxy", cpu: "100m", memory: "64Mi" }],
    drifts: [{ at: 600 }],
  },
  pools: [{ name: "default", consolidateAfter: "30s", budgets: [{ nodes: "100%" }] }],
  instanceTypes: [{ name: "m.xlarge", cpu: 4, memory: "16Gi", pods: 58, price: 0.192 }],
};

describe("the lab's engine", () => {
  it("passes its own tests", async () => {
    expect(await testLab(newestKarpenter)).toMatch(/^ok\s/m);
  });

  it("knows the newest version of Karpenter first", () => {
    expect(labVersions[0]).toBe(newestKarpenter);
  });

  it("plays a trace with Karpenter's own controllers", async () => {
    const file = join(engineFolder("lab-engine"), "config.json");
    writeFileSync(file, JSON.stringify(config));
    const { stdout } = await promisify(execFile)(await buildLab(newestKarpenter), ["-config", file]);
    const lines = stdout.trim().split("\n");
    const { result } = JSON.parse(lines.at(-1) ?? "");
    expect(lines.length).toBeGreaterThan(100);
    // A node for each job, because web's node has no room, and one that replaces the drifted node.
    expect(result).toMatchObject({
      karpenter: newestKarpenter,
      launched: 4,
      gone: 4,
      drifted: 1,
      jobsRun: 3,
    });
    expect(result).toMatchObject({
      evictedBy: { drifted: 4 },
      jobsKilled: 0,
      disruptions: { empty: 3, drifted: 1 },
    });
    expect(result.nodeMinutes).toBeGreaterThan(33);
  });
});
