import { execFileSync } from "node:child_process";
import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { holderFiles } from "../../../lab/days/spec.ts";

/** Prints the address of each file that Node loads with the holder of the lab. */
const program = `
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
  await import("${pathToFileURL("lab/days/holder/holder.ts")}");
`;

it("a result with a holder counts as another one by every file that this holder loads, and by no other", () => {
  const words = ["--input-type=module", "--eval", program];
  const loaded = execFileSync(process.execPath, words, { encoding: "utf8" })
    .split("\n")
    .filter((url) => url.startsWith("file:"))
    .map((url) => relative(".", fileURLToPath(url)));
  const own = loaded.filter((file) => !file.startsWith("node_modules/"));
  expect(holderFiles().toSorted()).toEqual(own.toSorted());
  expect(own).toEqual(expect.arrayContaining(["lambda/core/reconcile.ts", "simulator/memory-table.ts"]));
  expect(own).not.toContain("simulator/start.ts");
});
