import { describe, expect, it } from "vitest";
import { writeSettings } from "../../infra/settings/deployment.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { checkSettings, readSettings, settingNames } from "../../lambda/settings.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import fc from "../support/fast-check.ts";
import { otherCosts, otherValues } from "../support/other-values.ts";

const problemsOf = (raw: Parameters<typeof checkSettings>[0]) =>
  checkSettings({ cluster: "prod", ...raw }).problems;

describe("the settings", () => {
  it("have a default, except the cluster", () => {
    const settings = readSettings({ cluster: "prod" });

    expect(settings).toMatchObject({ auto: true, maxHold: hours(2), scope: "cluster" });
    // Where pods may not be listed.
    expect(settings.hold).toBe(minutes(20));
    expect(settings).toMatchObject({ nodePools: { only: [], except: [] }, karpenter: "v1" });
    expect(settings).toMatchObject({ mode: "hold", maxRequest: hours(24), driftWait: 0 });
    expect(settings.holdAnnotation).toBe("karpenter.sh/do-not-disrupt");
  });

  it("report every problem at once, by name and with what was expected", () => {
    const { problems } = checkSettings({
      mode: "watch",
      hold: "always",
      maxHold: "8d",
      breather: "0s",
      maxRequest: "91d",
      initialDelay: "16m",
      scope: "region",
      nodePools: "Batch",
      driftWait: "8d",
      karpenter: "v2",
      holdAnnotation: "held",
      sweepEvery: "90s",
    });

    expect(problems).toEqual([
      "cluster is missing: give an EKS cluster's name (letters, digits, - and _, at most 100), like prod",
      'mode must be hold or observe, not "watch"',
      'hold must be auto, or a duration from 1m to 24h, like 90s, 20m, 2h or 1d, not "always"',
      'maxHold must be a duration from 1m to 168h, or 0s for no cap, like 90s, 20m, 2h or 1d, not "8d"',
      'breather must be a duration from 1m to 24h, like 90s, 20m, 2h or 1d, not "0s"',
      'maxRequest must be a duration from 1m to 2160h, like 90s, 20m, 2h or 1d, not "91d"',
      'initialDelay must be a duration from 0s to 15m, like 90s, 20m, 2h or 1d, not "16m"',
      'scope must be cluster or nodepool, not "region"',
      'nodePools must be NodePool names separated by commas, with ! before those to leave out, like batch,!system, not "Batch"',
      'driftWait must be a duration from 0s to 168h, like 90s, 20m, 2h or 1d, not "8d"',
      'karpenter must be v1 or v0.31, not "v2"',
      'holdAnnotation must be an annotation key with a prefix, like example.com/keep, not "held"',
      'sweepEvery must be a duration from 1m to 1h in whole minutes, like 20m or 1h, not "90s"',
    ]);
    expect(() => readSettings({ cluster: "a b" })).toThrow(/^These settings cannot be used: cluster must be/);
  });

  it("must agree with each other", () => {
    expect(problemsOf({ hold: "3h" })).toEqual(['maxHold must be at least hold (3h), or 0s, not "2h"']);
    expect(problemsOf({ hold: "3h", maxHold: "0s" })).toEqual([]);
    expect(problemsOf({ hold: "5m", initialDelay: "5m" })).toEqual([
      'initialDelay must be shorter than hold (5m), not "5m"',
    ]);
    expect(problemsOf({ maxHold: "0s" })).toEqual(['maxHold must be a time with hold=auto, not "0s"']);
    expect(problemsOf({ hold: "20m", relaunchCost: "10m" })).toEqual([
      "relaunchCost has an effect with hold=auto only",
    ]);
    expect(problemsOf({ relaunchCost: "10m", evictionCost: "0s" })).toEqual([]);
  });

  it("of Karpenter v0.31 use its annotation, unless holdAnnotation is set", () => {
    expect(readSettings({ cluster: "prod", karpenter: "v0.31" }).holdAnnotation).toBe(
      "karpenter.sh/do-not-consolidate",
    );
    const holdAnnotation = "example.com/stay";
    expect(readSettings({ cluster: "prod", karpenter: "v0.31", holdAnnotation })).toMatchObject({
      holdAnnotation,
    });
  });

  it("of Karpenter v0.31 hold for a constant time, because it has no NodeClaims", () => {
    const settings = readSettings({ cluster: "prod", karpenter: "v0.31" });
    expect(settings).toMatchObject({ hold: minutes(20), auto: false });
    expect(problemsOf({ karpenter: "v0.31", maxHold: "0s" })).toEqual([]);
    expect(problemsOf({ karpenter: "v0.31", evictionCost: "5m" })).toEqual([
      "evictionCost has an effect with hold=auto only",
    ]);
  });

  it("have yes or no as such, as programs read it in the answer to status", () => {
    const read = (nodeEvents: unknown) => readSettings({ cluster: "prod", nodeEvents }).nodeEvents;
    expect([undefined, "false", "true", true].map(read)).toEqual([false, false, true, true]);
  });

  it("name no NodePool that they leave out", () => {
    expect(problemsOf({ nodePools: "a,b,!a" })).toEqual(["nodePools names a and leaves it out"]);
  });

  it("take NodePools as text or as a list", () => {
    const nodePools = { only: ["a", "b"], except: ["c"] };

    expect(readSettings({ cluster: "prod", nodePools: "a, b,!c" })).toMatchObject({ nodePools });
    expect(readSettings({ cluster: "prod", nodePools: ["a", "b", "!c"] })).toMatchObject({ nodePools });
  });

  it("are the same after a way through the environment as text", () => {
    for (const raw of [
      { cluster: "prod", hold: "30m", maxHold: "0s" },
      { cluster: "prod", hold: "auto", ...otherCosts(holderSettings) },
      otherValues(holderSettings),
    ]) {
      const settings = readSettings(raw);
      expect(writeSettings(settings)).toMatchObject(raw);
      expect(readSettings(writeSettings(settings))).toEqual(settings);
    }
  });

  it("of any shape are refused by name and never crash", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...settingNames), fc.jsonValue()), (raw) => {
        for (const problem of checkSettings(raw).problems) {
          expect(settingNames).toContain(problem.split(" ")[0]);
        }
      }),
    );
  });
});
