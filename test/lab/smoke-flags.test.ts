import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { newFolder } from "../support/new-folder.ts";

/** Types `npm run smoke` as a user without AWS. */
const type = (...words: string[]) => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, AWS_EC2_METADATA_DISABLED: "true", HOME: newFolder() };
  return promisify(execFile)(process.execPath, ["lab/smoke/run.ts", ...words], { env }).then(
    ({ stdout }) => ({ exit: 0, stderr: "", stdout }),
    ({ code: exit, stderr, stdout }) => ({ exit, stderr, stdout }),
  );
};

describe.concurrent("npm run smoke refuses before it asks AWS", () => {
  const file = join(newFolder(), "ledger.jsonl");
  writeFileSync(file, "");
  it.each([
    ["no cluster but a kubeconfig", ["--kubeconfig", "any"], /^error: name the cluster: --cluster NAME/],
    [
      "the file of another ledger",
      ["--cluster", "a", "--kubeconfig", "any", "--ledger", file],
      /^error: \S+ledger\.jsonl is there already: name another file/,
    ],
  ])("%s", async (_, words, reason) => {
    const { exit, stderr } = await type(...words);
    expect(stderr).toMatch(reason);
    expect(exit).toBe(2);
  });
});

it("judges a ledger without a cluster, and names a file that is not there", async () => {
  expect(await type("--analyse", "nowhere")).toMatchObject({
    exit: 1,
    stderr: "error: there is no file nowhere\n",
  });
});
