import { expect, it } from "vitest";
import { summaryOf } from "./summary.ts";
import { synthesize, synthesizeEverything } from "./synthesized.ts";

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
