import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { spanOf, traceOfPods } from "../../../lab/days/traces/pods.ts";
import { newFolder } from "../../support/new-folder.ts";

describe("a list of pods", () => {
  const write = (text: string) => {
    const file = join(newFolder(), "pods.csv");
    writeFileSync(file, text);
    return file;
  };
  const head = "name,scheduled_s,deleted_s,cpu_milli,memory_mib\n";

  it("becomes jobs: of a part those that ran in it, for as long as they did", async () => {
    const file = write(`${head}a,0,120,3000,0\nb,60,300,2000,512\nc,400,460,1000,1\nd,20,40,1,1\n`);
    const { lasts, jobs } = await traceOfPods(file, { from: 50, lasts: 200 });
    expect(lasts).toBe(200);
    expect(jobs).toEqual([
      { name: "pod-2", at: 0, runs: 70, cpu: 3, image: "batch" },
      { name: "pod-3", at: 10, runs: 240, cpu: 2, memory: "512Mi", image: "batch" },
    ]);
    expect(await spanOf(file)).toEqual({ first: 0, last: 460 });
  });

  it("may leave cells of the memory empty", async () => {
    const { jobs } = await traceOfPods(write(`${head}a,0,120,3000,\n`), { from: 0, lasts: 200 });
    expect(jobs).toEqual([{ name: "pod-2", at: 0, runs: 120, cpu: 3, image: "batch" }]);
  });

  it("may be UTF-16, as Windows PowerShell redirects output", async () => {
    const file = join(newFolder(), "pods.csv");
    writeFileSync(file, `\uFEFF${head}a,0,120,3000,0\n`, "utf16le");
    expect(await spanOf(file)).toEqual({ first: 0, last: 120 });
  });

  it("that cannot be read is refused with its line", async () => {
    await expect(traceOfPods(write(`${head}a,0,x,1,1\n`), { from: 0, lasts: 10 })).rejects.toThrow(
      /line 2 must have/,
    );
  });

  it("says how many pods without CPU it leaves out of the part", async () => {
    const notes: string[] = [];
    const file = write(`${head}a,0,120,1000,1\nb,10,20,0,1\nc,30,40,0,1\nd,500,600,0,1\n`);
    const { jobs } = await traceOfPods(file, { from: 0, lasts: 200 }, (line) => notes.push(line));
    expect(jobs.map(({ name }) => name)).toEqual(["pod-2"]);
    expect(notes).toEqual([`${file}: pods with cpu_milli 0 are left out: 2`]);
    await expect(traceOfPods(file, { from: 500, lasts: 50 })).rejects.toThrow(
      "no pod ran between second 500 and 550 of the file; pods with cpu_milli 0 are left out: 1",
    );
  });

  it.each(["", head])("that is empty is refused: %j", async (text) => {
    const file = write(text);
    await expect(spanOf(file)).rejects.toThrow(`${file}: it lists no pods`);
  });

  it("in which nothing ran is refused", async () => {
    const file = write(`${head}a,0,5,1,1\n`);
    await expect(traceOfPods(file, { from: 10, lasts: 10 })).rejects.toThrow(
      "no pod ran between second 10 and 20",
    );
  });
});
