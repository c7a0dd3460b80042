import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writePrivateFile } from "../../cli/terminal/private-file.ts";
import { newFolder } from "../support/new-folder.ts";

it.each([false, true])(
  "a file that we write is its owner's alone, whatever the umask, also in place of one that all may read: %s",
  (exists) => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const file = join(newFolder(), "report.html");
    if (exists) writeFileSync(file, "old", { mode: 0o644 });
    writePrivateFile(file, "new");
    expect([statSync(file).mode & 0o777, readFileSync(file, "utf8")]).toEqual([0o600, "new"]);
  },
);
