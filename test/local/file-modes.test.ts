import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Archive } from "../../cli/advise/archive.ts";
import { removeFormerMarks } from "../../local/run/former-marks.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { newFolder } from "../support/new-folder.ts";

let folder: string;
let umask: number;
beforeEach(() => {
  folder = newFolder();
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
});

const modeOf = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8);

describe("a file that we write is its owner's alone, whatever the umask:", () => {
  it("the events that were read of CloudTrail, and their folder", () => {
    const read = { call: "RunInstances", from: new Date(0), to: new Date(1) };
    new Archive(join(folder, "cache", "events.jsonl")).keep(read, []);
    expect([modeOf("cache"), modeOf("cache/events.jsonl")]).toEqual(["700", "600"]);
  });

  it("the annotations under which run marked", async () => {
    const access = { removeMarks: async () => 0 };
    await removeFormerMarks(access, folder, "example.com/stay", new CollectedLog());
    expect(modeOf("hold-annotation")).toBe("600");
  });
});
