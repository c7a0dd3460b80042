import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { mutations } from "../../model/mutations.ts";
import { copyProject, plant } from "../../model/planted.ts";
import { elementsIn } from "../../report/markup.ts";
import { newestKarpenter, oldestKarpenter } from "../engines/build.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";
import { documented, scripted } from "../runner/documented.ts";
import { jobsOf, suites } from "../runner/jobs.ts";
import { engineFolder } from "../runner/run-folder.ts";
import { Typist } from "../runner/typist.ts";
import type { Outcome } from "../truth-table/outcome.ts";
import { rows } from "../truth-table/rows.ts";

const root = resolve(import.meta.dirname, "../../..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const {
  story,
  serve,
  cost,
  truthTable,
  torture,
  goodDays,
  replay,
  mutate,
  fuzz,
  suites: help,
  ownCluster,
  bench,
} = scripted.commands;

describe("what the documents tell developers to type, by their shell", () => {
  const into = engineFolder("commands");
  const typist = new Typist(into, { INTO: into, CLUSTER: join(into, "admin.kubeconfig") });
  const written = (file: string) => readFileSync(join(into, file), "utf8");
  const before = amongTheDocuments();

  afterAll(() => typist.stop());

  it(`${story}: tells a story whose promises are kept`, async () => {
    expect(await typist.done(story)).toMatch(/All \d+ promises kept/);
  });

  it(`${serve}: stays up with a cluster for kubectl and a live page until Ctrl-C, and leaves nothing behind`, async () => {
    const show = typist.open(serve);
    const url = await show.says(/The live timeline: (\S+)/);
    const kubeconfig = await show.says(/export KUBECONFIG=(\S+)/);

    expect(await (await fetch(url)).text()).toContain("<td>anna</td>");
    await until("a node that is held", async () =>
      /\d{8}t\d{6}/.test(await typist.done(`KUBECONFIG=${kubeconfig} ${documented.whoIsHeld}`)),
    );

    await show.interrupt();
    expect(existsSync(kubeconfig)).toBe(false);
    await expect(fetch(url)).rejects.toThrow();
  });

  it(`${cost}: works the cost out`, async () => {
    await typist.done(cost);
    expect(written("cost.md")).toBe(readFileSync(join(root, "docs/cost.md"), "utf8"));
  });

  it(`${truthTable}: runs suites that are run anyway, and writes the page from what they saw`, async () => {
    typist.typed.add(truthTable);
    const [run = "", write = "", ...rest] = scripts["truth-table"].split(" && ");
    const titles = jobsOf([]).map(({ title }) => title);
    const [, names = ""] = /^node test\/real\/run\.ts (.+)$/.exec(run) ?? [];
    expect(names.split(" ")).toEqual(titles.filter((title) => title.startsWith("truth-table")));
    expect(rest).toEqual([]);

    for (const karpenter of [newestKarpenter, oldestKarpenter]) {
      writeFileSync(join(into, `truth-table-${karpenter}.json`), JSON.stringify(outcomeAsTold(karpenter)));
    }
    await typist.done(`KNH_BUILD="$INTO" ${write} --into "$INTO"`);
    // What the oldest version did otherwise is not as told.
    const [page = "", told = ""] = [
      written("what-a-hold-blocks.md"),
      readFileSync(join(root, "docs/what-a-hold-blocks.md"), "utf8"),
    ].map((whole) => whole.split("## On Karpenter")[0]);
    expect(outlineOf(page)).toEqual(outlineOf(told));
    expect(outlineOf(page).length).toBeGreaterThan(rows.length);
  });

  it.each([torture, goodDays])("%s: plays stories", async (command) => {
    expect(await typist.done(command)).toContain("300 of 300 stories played");
  });

  it(`${replay}: plays one story again`, async () => {
    expect(await typist.done(replay)).toContain("it does not break any more");
  });

  it("a story that breaks is told with the line that breaks it again, until its bug is mended", async () => {
    const copy = join(into, "planted");
    const bug = mutations.find((one) => one.bug === "expiry may move back");
    mkdirSync(copy);
    await copyProject(copy);
    if (bug) await plant(copy, bug);

    const { exit, told } = await typist.type("npm run torture -- --runs 2000 --seed 7", copy);
    const [, again = ""] = /^again: (npm run torture -- .+)$/m.exec(told) ?? [];
    const why = /^Error: .+$/m.exec(told)?.[0];
    expect([exit, again, why]).toEqual([1, expect.stringContaining("--path"), expect.any(String)]);

    expect(await typist.type(again, copy)).toMatchObject({
      exit: 1,
      output: expect.stringContaining(`${why}`),
    });
    expect(await typist.done(again)).toContain("it does not break any more");
  });

  it(`${mutate}: plants a bug and tells who found it`, async () => {
    const output = await typist.done(mutate);
    expect(output).toMatch(/^caught {3}the sweep sets no lost one-shot again\n +rules: test\/\S+/m);
    expect(output).toContain("every planted bug was caught");
  });

  it("a bug that nobody knows is not taken for caught", async () => {
    const { exit, told } = await typist.type("npm run mutate -- nonsense");
    expect([exit, told]).toEqual([2, expect.stringContaining('no bug\'s name contains "nonsense"')]);
  });

  it(`${fuzz}: plays other odd inputs, and more of them`, async () => {
    expect(await typist.done(fuzz)).toMatch(/Tests +[1-9]\d* passed/);
  });

  it(`${help}: tells which suites there are`, async () => {
    const told = await typist.done(help);
    for (const suite of suites) expect(told).toContain(`\n  ${suite}\n`);
  });

  it(`${ownCluster}: proves the contracts there, and leaves it as it was`, async () => {
    const plane = await ControlPlane.start();
    try {
      writeFileSync(join(into, "admin.kubeconfig"), readFileSync(plane.kubeconfig("admin")), { mode: 0o600 });
      const kinds = "nodes,clusterroles,clusterrolebindings,validatingadmissionpolicies";
      const all = () => plane.kubectl(["get", `${kinds},validatingadmissionpolicybindings`, "-o", "name"]);
      const found = await all();
      expect(await typist.done(ownCluster)).toMatch(/^[1-9]\d* passed, 0 failed/m);
      expect(await all()).toBe(found);
    } finally {
      await plane.stop();
    }
  });

  it(`${bench}: measures all that docs/performance.md tells, smaller`, async () => {
    await typist.done(bench);
    const page = written("performance.md");
    expect(page).toContain("**No measurement**");
    expect(outlineOf(page)).toEqual(outlineOf(readFileSync(join(root, "docs/performance.md"), "utf8")));
    for (const told of [page, written("bench.json")]) expect(told).not.toMatch(/NaN|undefined|Infinity|null/);
    const pictures = globSync("images/*.svg", { cwd: into });
    expect(pictures.length).toBeGreaterThan(5);
    for (const picture of pictures) {
      expect(elementsIn(written(picture))[0]?.name).toBe("svg");
      expect(page).toContain(`](${picture})`);
    }
  });

  it("writes nothing among the documents meanwhile", () => {
    expect(amongTheDocuments()).toEqual(before);
  });

  it("is all that they tell", () => {
    expect(Object.values(scripted.commands).filter((command) => !typist.typed.has(command))).toEqual([]);
  });
});

/** The pages that these commands write when they are not sent elsewhere, and when each was written. */
function amongTheDocuments() {
  const pages = ["docs/{cost,performance,what-a-hold-blocks}.md", "docs/images/bench-*.svg"];
  const files = globSync(pages, { cwd: root }).sort();
  return files.map((file) => [file, statSync(join(root, file)).mtimeMs]);
}

/** What a page tells of, whatever its figures are: headings, pictures, and the first cell of each row. */
const outlineOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^(?:#+ .*|!\[.*|\| [^|]*)/gm)].map(([line]) =>
    line
      .trim()
      .replaceAll(/-{3,}/g, "---")
      .replaceAll(/\d[\d,]*/g, "N"),
  );

/** As if every row had come as it is told. */
const outcomeAsTold = (karpenter: string): Outcome => ({
  karpenter,
  date: "2026-01-02",
  rows: rows.map(({ what, course }) => {
    return { what, course, blocked: course !== "although held", heldSeconds: 60, goneSeconds: 5 };
  }),
});
