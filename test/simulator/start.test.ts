import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("npm start -- --real refuses at once a hold that the holder would refuse when all is built", async () => {
  const started = promisify(execFile)(process.execPath, ["simulator/start.ts", "--real", "--hold", "30s"]);

  await expect(started).rejects.toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("hold must be auto, or a duration from 1m to 24h"),
  });
});
