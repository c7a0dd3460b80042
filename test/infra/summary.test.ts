import { expect, it } from "vitest";
import { outputsOf, summaryOf } from "./summary.ts";
import { synthesize, synthesizeWith } from "./synthesized.ts";

// A change is accepted with `npx vitest run test/infra/summary --update`, and read in the diff.
it("deploys what was reviewed", async () => {
  await expect(`${summaryOf(synthesize()).join("\n\n")}\n`).toMatchFileSnapshot("templates/default.txt");
});

it("reports what was reviewed", async () => {
  const outputs = outputsOf(synthesizeWith((holder) => holder.addOutputs()));
  await expect(`${outputs.join("\n")}\n`).toMatchFileSnapshot("templates/outputs-install.txt");
});
