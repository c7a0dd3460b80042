import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { EngineProcess } from "../../../lab/days/engine-process.ts";
import { typesOf } from "../../../lab/days/worlds.ts";
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
  pools: [{ name: "default", consolidateAfter: "30s", budgets: [{ nodes: "100%" }], types: ["m.xlarge"] }],
  instanceTypes: typesOf("m.xlarge"),
};

async function configFile(name: string, value: unknown): Promise<string> {
  const file = join(engineFolder("lab-engine"), `${name}.json`);
  await writeFile(file, JSON.stringify(value));
  return file;
}

describe("the lab's engine", () => {
  it("passes its own tests", async () => {
    expect(await testLab(newestKarpenter)).toMatch(/^ok\s/m);
  });

  it("knows the newest version of Karpenter first", () => {
    expect(labVersions[0]).toBe(newestKarpenter);
  });

  it("plays a trace with Karpenter's own controllers", async () => {
    const file = await configFile("alone", config);
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
      evictedBy: { drifted: 4 },
      jobsKilled: 0,
      disruptions: { empty: 3, drifted: 1 },
    });
    expect(result.nodeMinutes).toBeGreaterThan(33);
  });

  it("ends also where a turn of the holder begins in the last moment of the trace", async () => {
    const start = new Date("2026-11-23T00:00:00Z");
    const file = await configFile("beside-holder", { ...config, start, holder: {} });
    const engine = new EngineProcess({ program: await buildLab(newestKarpenter), args: ["-config", file] });
    const turns: unknown[] = [];
    let result: unknown;
    for await (const line of engine.lines()) {
      result = line.result;
      if (line.now === undefined) continue;
      turns.push(line.now);
      engine.send({ done: true, next: start.getTime() + config.trace.lasts * 1_000 });
    }
    expect(turns.length).toBeGreaterThan(3);
    expect(result).toMatchObject({ jobsRun: 3 });
  });
});
