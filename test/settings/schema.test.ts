import { expect, it } from "vitest";
import { meaningOf, settingsTable } from "../../lambda/settings-table.ts";
import { settingsSchema } from "../../scripts/settings-schema.ts";

it("describes the settings of run, with its defaults", () => {
  const { required, properties } = settingsSchema();
  expect(required).toEqual(["cluster"]);
  expect(properties).not.toHaveProperty("access");
  expect(properties).toMatchObject({
    hold: {
      type: "string",
      pattern: "^(auto|([0-9]+h)?([0-9]+m)?([0-9]+s)?)$",
      default: "20m",
      description: meaningOf(settingsTable.hold),
    },
    scope: { enum: ["cluster", "nodepool"], default: "cluster" },
    nodePools: { type: "array", items: { type: "string" } },
    sweepEvery: { default: "1m" },
  });
});

it("has patterns that Go can read, in which Helm checks them", () => {
  expect(JSON.stringify(settingsSchema(settingsTable))).not.toContain("(?=");
});
