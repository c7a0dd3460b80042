import { expect, it } from "vitest";
import { nearestName } from "../../lambda/spelling.ts";

const names = ["holds", "hold", "maxHold", "cluster", "vpc", "sweepEvery", "initialDelay"];

it.each([
  ["maxhold", "maxHold"],
  ["sweep-every", "sweepEvery"],
  ["INITIAL_DELAY", "initialDelay"],
  ["Hold", "hold"],
  ["hodl", "hold"],
  ["hopd", "hold"],
  ["luster", "cluster"],
  ["cluter", "cluster"],
  ["clutser", "cluster"],
  ["maxHolds", "maxHold"],
  ["inital_delya", "initialDelay"],
  ["initial", "initialDelay"],
  ["clusterName", "cluster"],
])("takes %s for %s", (given, meant) => {
  expect(nearestName(given, names)).toBe(meant);
});

it.each(["app", "hub", "bolt", "stage", "clutch", "clusst", "sweep", "ol", ""])(
  "finds no similar name for %j",
  (given) => {
    expect(nearestName(given, names)).toBeUndefined();
  },
);
