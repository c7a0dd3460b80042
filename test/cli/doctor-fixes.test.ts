import { describe, expect, it } from "vitest";
import { applyFixes } from "../../cli/doctor/fixes.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { anAccount, aRule, examined, none } from "./healthy-account.ts";

describe("fixes", () => {
  it("runs each action once, and reports which failed", async () => {
    const reported: string[] = [];
    const account = anAccount({ enableRule: () => Promise.reject(new Error("not allowed")) });
    const about = {
      launchRule: async () => aRule({ isEnabled: false }),
      mapping: async () => ({ id: "m", state: "Disabled", lastResult: "" }),
    };
    const findings = await examined({ ...account, ...about });
    expect(await applyFixes(findings, (line) => reported.push(line))).toBe(true);
    expect(account.did).toEqual(["enable mapping"]);
    expect(reported).toEqual([
      "Could not enable rule launches: not allowed",
      "Fixed: enable the event source mapping.",
    ]);
  });

  it("take an admin right that a killed access function left, and no right of one still at work", async () => {
    const leftSince = (since: Date) =>
      anAccount({ adminSince: async (role) => (role.endsWith("/cluster-access") ? since : undefined) });
    const killed = leftSince(new Date(0));
    expect(await applyFixes(await examined(killed), () => {})).toBe(true);
    expect(killed.did).toContain("delete entry");

    const working = leftSince(noon);
    expect(await applyFixes(await examined(working), () => {})).toBe(false);
    expect(working.did).not.toContain("delete entry");
  });

  it("reports that nothing can be repaired automatically", async () => {
    const reported: string[] = [];
    expect(
      await applyFixes(await examined(anAccount({ tableStatus: none })), (line) => reported.push(line)),
    ).toBe(false);
    expect(reported).toEqual(["There is nothing to fix from here."]);
  });
});
