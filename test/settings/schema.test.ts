import { expect, it } from "vitest";
import { settingsTable } from "../../infra/settings/deployment.ts";
import { settingsSchema } from "../../scripts/settings-schema.ts";

it("has patterns that Go can read, in which Helm checks them", () => {
  expect(JSON.stringify(settingsSchema(settingsTable))).not.toContain("(?=");
});
