import { expect, it } from "vitest";
import { holdIdOf, isHoldId, trialHoldId, youngerId } from "../../../lambda/core/marks/hold-id.ts";
import { isExcluded } from "../../../lambda/core/marks/keys.ts";
import { holdIds } from "../../../lambda/system-clock.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { usersLabels } from "../../contracts/nodes-world.ts";

it("the ids of new holds and of trials follow the grammar", () => {
  expect(holdIdOf(noon, "k3f9ax")).toBe("20261121t120000-k3f9ax");
  const ids = [holdIds.newHoldId(noon), holdIds.newHoldId(noon), trialHoldId];
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect([isHoldId(id), isExcluded(id)]).toEqual([true, false]);
  expect(isExcluded(undefined)).toBe(false);
});

it("ids of a scope only grow, also where a clock is behind, or two holds begin in the same second", () => {
  const older = "20261231t235959-zzzzzz";
  expect(youngerId("20261121t120000-k3f9ax", undefined)).toBe("20261121t120000-k3f9ax");
  expect(youngerId("20270101t000005-000000", older)).toBe("20270101t000005-000000");
  for (const id of ["20261121t120000-k3f9ax", "20261231t235959-k3f9ax"])
    expect(youngerId(id, older)).toBe("20270101t000000-k3f9ax");
  expect(youngerId(older, older)).toBe("20270101t000000-zzzzzz");
});

it("no hold has a trial's id, because its date does not exist; it is younger than all", () => {
  expect(trialHoldId > holdIdOf(new Date("9999-12-31T23:59:59Z"), "zzzzzz")).toBe(true);
  expect(
    new Date(trialHoldId.replace(/^(....)(..)(..)t(..)(..)(..).*/, "$1-$2-$3T$4:$5:$6Z")).getTime(),
  ).toBeNaN();
});

it.each([
  ...usersLabels,
  "20261121t120000-k3f9a",
  "20261121t120000-k3f9axx",
  "20261121t120000-K3f9ax",
  "20261121T120000-k3f9ax",
  "x20261121t120000-k3f9ax",
  "20261121t120000-k3f9ax\n",
])("%j is no hold's id, and excludes its node", (label) => {
  expect(isHoldId(label)).toBe(false);
  expect(isExcluded(label)).toBe(true);
});
