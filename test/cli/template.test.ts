import { describe, expect, it } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { flagOf } from "../../cli/terminal/setting-flags.ts";
import { settingsTable } from "../../infra/settings/deployment.ts";
import type { Setting } from "../../lambda/settings-table.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

describe("the command template", () => {
  const ofConstruct = Object.entries<Setting>(settingsTable).filter(([, { constructOnly }]) => constructOnly);
  const flags = ofConstruct.map(([name]) => [flagOf(name), "any"]);

  it.each([...flags, ["--max-hold", "0s"]])(
    "refuses %s, from which the construct computes resources, and names the construct",
    async (...flag) => {
      const terminal = new CollectedTerminal();
      const exit = await commandLine(
        ["template", "--cluster", "prod", "--bucket", "assets", ...flag],
        terminal,
      );
      expect(exit).toBe(1);
      expect(terminal.reported).toMatch(
        new RegExp(`^error: ${flag[0]}.* cannot be set .*\n.*KarpenterNodeHolder`),
      );
    },
  );

  it("asks for a topic, or that no one is notified", async () => {
    const terminal = new CollectedTerminal();
    expect(await commandLine(["template", "--cluster", "prod", "--bucket", "assets"], terminal)).toBe(1);
    for (const line of [
      "--alarm-topic-arn arn:",
      "--alarms none",
      'alarm_topic_arn = "arn:',
      'alarms = "none"',
    ])
      expect(terminal.reported).toContain(line);
  });
});
