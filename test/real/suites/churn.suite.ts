import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Archive } from "../../../lab/churn/archive.ts";
import { type Arm, arms } from "../../../lab/churn/arm.ts";
import { figuresOf } from "../../../lab/churn/figures.ts";
import { elementsIn } from "../../report/markup.ts";
import { buildFolder } from "../engines/build.ts";
import { processTable } from "../engines/process-table.ts";
import { until } from "../engines/processes.ts";
import { engineFolder } from "../runner/run-folder.ts";
import { Typist } from "../runner/typist.ts";

const root = resolve(import.meta.dirname, "../../..");
const lab = 'npm run churn -- --minutes 3 --scale 7s --hold 9m --seed 8 --into "$INTO"';
const draw = 'npm run churn -- --draw --into "$INTO"';
const real = "npm start -- --real";

// What is measured and documented is the whole lab's; this one is small, to see that it works.
describe("the churn lab", () => {
  const into = engineFolder("churn");
  const typist = new Typist(into, { INTO: into });
  const page = () => readFileSync(join(into, "churn.md"), "utf8");
  const pictures = () => globSync("images/*.svg", { cwd: into }).sort();
  const before = writtenForReal();

  afterAll(() => typist.stop());

  describe(lab, () => {
    beforeAll(() => typist.done(lab));

    it.each(Object.keys(arms) as Arm[])("ran the work %s on real Karpenter, which launched nodes", (arm) => {
      const archived = new Archive(join(into, "records")).recall(arm);
      if (!archived) throw new Error("it kept no record");
      const { record, conditions } = archived;
      const { launched, imagesPulled } = figuresOf(record, conditions.minute);
      expect(launched).toBeGreaterThan(0);
      expect(imagesPulled).toBeGreaterThan(0);
      expect(record.events.some(({ kind }) => kind === "hold started")).toBe(arm === "holder");
      expect(page()).toContain(arms[arm]);
    });

    it("wrote its page, without a figure that is none", () => {
      expect(page()).toContain("| nodes launched");
      expect(page()).toContain("## Predicted beside measured");
      expect(page()).not.toMatch(/NaN|undefined|Infinity|unknown/);
      expect(headingsOf(page())).toEqual(headingsOf(readFileSync(join(root, "docs/churn.md"), "utf8")));
    });

    it("drew a picture of each arm, and the page shows them", () => {
      expect(pictures()).toEqual(
        Object.keys(arms)
          .map((arm) => `images/churn-${arm}.svg`)
          .sort(),
      );
      for (const picture of pictures()) {
        expect(elementsIn(readFileSync(join(into, picture), "utf8"))[0]?.name).toBe("svg");
        expect(page()).toContain(`](${picture})`);
      }
    });

    it("draws the same again from its records", async () => {
      const written = page();
      await typist.done(draw);
      expect(page()).toBe(written);
    });

    it("left the real lab's page, pictures and records alone", () => {
      expect(writtenForReal()).toEqual(before);
    });
  });

  it("on show stays up with real Karpenter and a live page until Ctrl-C, and leaves nobody behind", async () => {
    const show = typist.open(real);
    const url = await show.says(/The live timeline: (\S+)/, 180_000);
    const kubeconfig = await show.says(/export KUBECONFIG=(\S+)/);
    const engines = async () =>
      (await processTable()).filter(({ command }) => command.includes(dirname(kubeconfig)));

    expect(await (await fetch(url)).text()).toContain("A holder at work on real Karpenter");
    await until("a node that is held", async () =>
      /\d{8}t\d{6}/.test(
        await typist.done(`KUBECONFIG=${kubeconfig} kubectl get nodes -L karpenter-node-holder/hold`),
      ),
    );
    expect((await engines()).length).toBeGreaterThan(3);

    await show.interrupt();
    await expect(fetch(url)).rejects.toThrow();
    await until("all engines to be gone", async () => (await engines()).length === 0);
  });
});

/** What the whole lab keeps, and when it was written. */
function writtenForReal() {
  const files = [
    ...globSync(["docs/churn.md", "docs/images/churn-*.svg"], { cwd: root }).map((file) => join(root, file)),
    ...globSync("churn/*", { cwd: buildFolder }).map((file) => join(buildFolder, file)),
  ];
  return files.sort().map((file) => [file, statSync(file).mtimeMs]);
}

const headingsOf = (markdown: string): readonly string[] => markdown.match(/^#+ .*$/gm) ?? [];
