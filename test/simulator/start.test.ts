import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const range = "It must be a duration from 1m to 24h, like 90s, 20m, 2h or 1d.";

it.each([
  [["--hold", "5m"], "--hold needs --serve or --real"],
  [["--serve", "--hold", "5x"], range],
  // At once, and not when all is built.
  [["--real", "--hold", "30s"], range],
])("npm start -- %j refuses what it cannot use", async (flags, what) => {
  const started = promisify(execFile)(process.execPath, ["simulator/start.ts", ...flags]);
  await expect(started).rejects.toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(what) });
});
