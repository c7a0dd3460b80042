import { expect, it } from "vitest";
import { settingsTable } from "../../infra/settings/deployment.ts";
import { settingsSchema } from "../../scripts/settings-schema.ts";

it("describes the settings of run, with its defaults", () => {
  const { required, properties } = settingsSchema();
  expect(required).toEqual(["cluster"]);
  expect(properties).not.toHaveProperty("access");
  expect(properties).toMatchObject({
    hold: {
      type: "string",
      pattern: "^(([0-9]{1,4}d)?([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,7}s)?|auto)$",
      default: "auto",
      description:
        "`auto`: a node goes when that pays; or how long each launch protects the nodes of its scope (1m to 24h)",
    },
    driftWait: { description: expect.stringMatching(/ \(to 168h\)$/) },
    mode: { enum: ["hold", "observe"], default: "hold" },
    nodePools: {
      type: "array",
      items: { type: "string" },
      description: "names to include, or `!name` to leave out",
    },
    holdAnnotation: { pattern: expect.stringMatching(/^\^\[a-z0-9\]/) },
    scope: { enum: ["cluster", "nodepool"], default: "cluster" },
    sweepEvery: { default: "1m" },
  });
});

it("has patterns that Go can read, in which Helm checks them", () => {
  expect(JSON.stringify(settingsSchema(settingsTable))).not.toContain("(?=");
});
