import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writePrivateFile } from "../../cli/terminal/private-file.ts";
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
  it.each(["a new report", "a report where a file is that all may read"])("%s", (where) => {
    const file = join(folder, "report.html");
    if (where !== "a new report") writeFileSync(file, "old", { mode: 0o644 });
    writePrivateFile(file, "new");
    expect([modeOf("report.html"), readFileSync(file, "utf8")]).toEqual(["600", "new"]);
  });
});
