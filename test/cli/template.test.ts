import { describe, expect, it } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

describe("the command template", () => {
  it.each([
    ["--sweep-every", "10m"],
    ["--vpc", "subnet-0123456789abcdef0,sg-0123456789abcdef0"],
    ["--log-retention-days", "7"],
    ["--runbook-url", "https://wiki.example.com"],
    ["--reserve-concurrency", "true"],
    ["--max-hold", "0s"],
  ])("refuses %s, from which the construct computes resources, and names the construct", async (...flag) => {
    const terminal = new CollectedTerminal();
    const exit = await commandLine(
      ["template", "--cluster", "prod", "--bucket", "assets", ...flag],
      terminal,
    );
    expect(exit).toBe(1);
    expect(terminal.reported).toMatch(
      new RegExp(`^Failed: ${flag[0]}.* cannot be set .*\n.*KarpenterNodeHolder`),
    );
  });
});
