import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it.each([
  [["--hold", "5x"], "--hold needs --serve"],
  [["--serve", "--hold", "5x"], '--hold must be a duration like 90s, 20m, 2h or 1d, not "5x"'],
])("npm start -- %j refuses what it cannot use", async (flags, what) => {
  const started = promisify(execFile)(process.execPath, ["simulator/start.ts", ...flags]);
  await expect(started).rejects.toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(what) });
});
