import { expect, it } from "vitest";
import { outputsOf, summaryOf } from "./summary.ts";
import { synthesize, synthesizeEverything, synthesizeWith } from "./synthesized.ts";

const usual = () => summaryOf(synthesize());

// A change is accepted with `npx vitest run test/infra/summary --update`, and read in the diff.
it("deploys what was reviewed", async () => {
  await expect(`${usual().join("\n\n")}\n`).toMatchFileSnapshot("templates/default.txt");
});

it("deploys what was reviewed with every option, where that differs", async () => {
  const known = usual();
  const other = summaryOf(synthesizeEverything()).filter((resource) => !known.includes(resource));
  await expect(`${other.join("\n\n")}\n`).toMatchFileSnapshot("templates/every-option.txt");
});

it.each(["install", "manual"] as const)("reports what was reviewed with access=%s", async (access) => {
  const outputs = outputsOf(synthesizeWith((holder) => holder.addOutputs(), { access }));
  await expect(`${outputs.join("\n")}\n`).toMatchFileSnapshot(`templates/outputs-${access}.txt`);
});
