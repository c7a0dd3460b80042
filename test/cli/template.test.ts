import { describe, expect, it } from "vitest";
import { flagOf } from "../../cli/terminal/setting-flags.ts";
import { settingsTable } from "../../infra/settings/deployment.ts";
import type { Setting } from "../../lambda/settings-table.ts";
import { typed } from "../support/typed.ts";

const template = (...flags: readonly string[]) =>
  typed(["template", "--cluster", "prod", "--bucket", "assets", ...flags]);

describe("the command template", () => {
  const ofConstruct = Object.entries<Setting>(settingsTable).filter(([, { constructOnly }]) => constructOnly);
  const flags = ofConstruct.map(([name]) => [flagOf(name), "any"]);

  it.each([...flags, ["--max-hold", "0s"]])(
    "refuses %s, from which the construct computes resources, and names the construct",
    async (...flag) => {
      const { exit, reported } = await template(...flag);
      expect(exit).toBe(2);
      expect(reported).toMatch(new RegExp(`^error: .*: ${flag[0]}.* cannot be set .* KarpenterNodeHolder`));
    },
  );

  it.each([
    [["--max-hold", "30s"], "--max-hold must be a duration from 1m to 168h, like"],
    [["--hold", "3h"], '--max-hold must be at least hold (3h), not "2h"'],
  ])("offers no value that it refuses: %j", async (flags, problem) => {
    const { exit, reported } = await template(...flags);
    expect(exit).toBe(2);
    expect(reported).toContain(`error: These settings cannot be used: ${problem}`);
  });

  it("asks for a topic, or that no one is notified", async () => {
    const { exit, reported } = await template();
    expect(exit).toBe(2);
    for (const way of [
      "--alarm-topic-arn arn:",
      "--alarms none",
      'alarm_topic_arn = "arn:',
      'alarms = "none"',
    ])
      expect(reported).toContain(way);
  });
});
