import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Archive } from "../../../lab/churn/archive.ts";
import type { ArmName } from "../../../lab/churn/arms.ts";
import { figuresOf } from "../../../lab/churn/figures.ts";
import type { TraceName } from "../../../lab/churn/traces.ts";
import { elementsIn } from "../../report/markup.ts";
import { processTable } from "../engines/process-table.ts";
import { until } from "../engines/processes.ts";
import { engineFolder } from "../runner/run-folder.ts";
import { Shell } from "../runner/shell.ts";

// Short traces check the direction of the figures, and on one of them the size of a ratio.
describe("the churn lab", () => {
  const into = engineFolder("churn");
  const shell = new Shell(into, { INTO: into });
  const page = () => readFileSync(join(into, "compare.md"), "utf8");
  const figures = (trace: TraceName, arm: ArmName) => {
    const found = [into, join(into, "roll"), join(into, "vary")]
      .flatMap((folder) => new Archive(join(folder, "records")).all())
      .find(({ record }) => record.trace === trace && record.arm === arm);
    if (!found) throw new Error(`there is no record of ${trace}, ${arm}`);
    return figuresOf(found.record);
  };

  beforeAll(async () => {
    const arms = "--arm none,consolidate-after,holder --parallel 3";
    const two = "--arm consolidate-after,holder";
    await Promise.all([
      shell.run(`npm run churn -- --trace dense ${arms} --share 0.42 --into "$INTO"`),
      shell.run(`npm run churn -- --trace vary ${two} --share 0.6 --into "$INTO/vary"`),
      shell.run(`npm run churn -- --trace roll --arm none,holder --share 0.9 --into "$INTO/roll"`),
    ]);
  }, 900_000);
  afterAll(() => shell.stop());

  it("the holder launches no more nodes on dense bursts than consolidateAfter", () => {
    const { launched } = figures("dense", "holder");
    expect(launched).toBeGreaterThan(0);
    expect(launched).toBeLessThanOrEqual(figures("dense", "consolidate-after").launched + 1);
  });

  it("the holder evicts no more pods of services than Karpenter alone", () => {
    const alone = figures("dense", "none").servicePodsEvicted;
    expect(figures("dense", "holder").servicePodsEvicted).toBeLessThanOrEqual(alone);
  });

  it("small pods after a large burst make the holder cost hardly more than consolidateAfter of the same length", () => {
    const [held, native] = [figures("vary", "holder"), figures("vary", "consolidate-after")];
    expect(held.launched).toBeGreaterThan(5);
    expect(held.nodeMinutes).toBeLessThanOrEqual(1.15 * native.nodeMinutes);
  });

  it("the holder hardly slows Karpenter's own replacement of drifted nodes", () => {
    const alone = figures("roll", "none").driftDone;
    const held = figures("roll", "holder").driftDone;
    if (alone === undefined || held === undefined) throw new Error("not every node was replaced in time");
    expect(alone).toBeGreaterThan(30);
    expect(held).toBeLessThanOrEqual(1.3 * alone);
  });

  it("writes a table and a plot for each trace into its page, and writes the same again from its records", async () => {
    const written = page();
    expect(written).not.toMatch(/NaN|undefined|Infinity/);
    expect(written).toContain("](images/churn-dense.svg)");
    expect(elementsIn(readFileSync(join(into, "images/churn-dense.svg"), "utf8"))[0]?.name).toBe("svg");
    await shell.run('npm run churn -- --draw --into "$INTO"');
    expect(page()).toBe(written);
    expect(globSync("images/*.svg", { cwd: into })).toEqual(["images/churn-dense.svg"]);
  });

  it("npm start -- --real serves a live page of real Karpenter until Ctrl-C, and stops every engine", async () => {
    const show = shell.open("npm start -- --real");
    const url = await show.prints(/The live timeline: (\S+)/, 180_000);
    const kubeconfig = await show.prints(/export KUBECONFIG=(\S+)/);
    const engines = async () =>
      (await processTable()).filter(({ command }) => command.includes(dirname(kubeconfig)));

    expect(await (await fetch(url)).text()).toContain("A holder at work on real Karpenter");
    const nodes = `KUBECONFIG=${kubeconfig} kubectl get nodes -L karpenter-node-holder/hold`;
    await until("a held node", async () => /\d{8}t\d{6}/.test(await shell.run(nodes)));
    expect((await engines()).length).toBeGreaterThan(3);

    await show.interrupt();
    await expect(fetch(url)).rejects.toThrow();
    await until("every engine to stop", async () => (await engines()).length === 0);
  });
});
