import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it.each([
  [["--hold", "5x"], "--hold needs --serve or --real"],
  [["--serve", "--hold", "5x"], '--hold must be a duration like 90s, 20m, 2h or 1d, not "5x"'],
])("npm start -- %j refuses what it cannot use", async (flags, what) => {
  const started = promisify(execFile)(process.execPath, ["simulator/start.ts", ...flags]);
  await expect(started).rejects.toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(what) });
});

it("npm start -- --real refuses at once a hold that the holder would refuse when all is built", async () => {
  const started = promisify(execFile)(process.execPath, ["simulator/start.ts", "--real", "--hold", "30s"]);

  await expect(started).rejects.toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("hold must be auto, or a duration from 1m to 24h"),
  });
});
