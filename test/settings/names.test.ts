import { expect, it } from "vitest";
import {
  alarmName,
  dashboardName,
  functionName,
  parts,
  scheduleGroupName,
  stackName,
} from "../../infra/names.ts";
import fc from "../support/fast-check.ts";

const clusters = fc.stringMatching(/^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/);
const longest = "c".repeat(100);

it("contains function and cluster", () => {
  expect(functionName("prod", "release")).toBe("karpenter-node-holder-prod-release");
  expect(stackName("prod")).toBe("karpenter-node-holder-prod");
  expect(alarmName("prod", "sweep-silent")).toBe("karpenter-node-holder-prod-sweep-silent");
});

it("cuts only names that are too long, and ends those in a fingerprint", () => {
  const [longestWhole, cut] = ["c".repeat(64 - "karpenter-node-holder-".length), "c".repeat(99)];
  expect(scheduleGroupName(longestWhole)).toBe(`karpenter-node-holder-${longestWhole}`);
  expect(functionName(cut, "hold")).toMatch(/^karpenter-node-holder-c{28}-[0-9a-f]{8}-hold$/);
  expect(stackName("a_b")).toMatch(/^karpenter-node-holder-a-b-[0-9a-f]{8}$/);
  expect(stackName(`_${longest.slice(1)}`)).toHaveLength(128);
});

it("gives every cluster names that AWS takes", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      for (const part of parts) expect(functionName(cluster, part)).toMatch(/^[\w-]{1,64}$/);
      expect(scheduleGroupName(cluster)).toMatch(/^[\w.-]{1,64}$/);
      expect(stackName(cluster)).toMatch(/^[A-Za-z][A-Za-z0-9-]{0,127}$/);
      expect(dashboardName(cluster)).toMatch(/^[\w-]{1,255}$/);
      expect(alarmName(cluster, "release-overdue").length).toBeLessThanOrEqual(255);
    }),
  );
});

it("never gives two clusters the same name", () => {
  const duplicates = [longest, `${longest.slice(1)}d`, "a_b", "a-b"];
  for (const name of [stackName, scheduleGroupName, (cluster: string) => functionName(cluster, "hold")]) {
    expect(new Set(duplicates.map(name)).size).toBe(duplicates.length);
  }
});

it("keeps the functions of a cluster apart, however long its name", () => {
  expect(new Set(parts.map((part) => functionName(longest, part))).size).toBe(parts.length);
});
