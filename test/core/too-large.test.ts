import { describe, expect, test } from "vitest";
import { after, type Duration, hours, minutes } from "../../lambda/core/duration.ts";
import { lookAtNodes } from "../../lambda/core/pays.ts";
import type { Bound, Room } from "../../lambda/core/room.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aBound, noNeeds, aRoom as room, waiting } from "./rooms.ts";

const prices = { relaunchCost: minutes(5), evictionCost: minutes(3) };

const pod = (node: string, cpu: number, change: Partial<Bound> = {}): Bound =>
  aBound(node, { requests: { cpu, memory: 1e9 }, ...change });
const job = { fixed: "a Job runs on it" };
/** It is not known where else such a pod may run. */
const unknown = { needs: { ...noNeeds, isUnknown: true } };
/** A node that is full, and one of half its size that may not go: there are two sizes, and no room elsewhere. */
const others = [room("full"), room("small", { allocatable: { cpu: 3_900, memory: 15e9, pods: 58 } })];
const onOthers = [pod("full", 7_500), pod("small", 3_200, job)];

/** The minutes in which `large` is to go, of looks once a minute, and why it is or is not. */
function lookAt(pods: readonly Bound[], change: Partial<Room> = {}, lasts: Duration = hours(1)) {
  const [goes, reasons]: [number[], string[]] = [[], []];
  let account = waiting;
  for (let now = noon; now <= after(noon, lasts); now = after(now, minutes(1))) {
    const nodes = [room("large", change), ...others];
    const look = lookAtNodes(account, nodes, [...pods, ...onOthers], prices, now);
    account = look.account;
    const own = look.verdicts.filter(({ name }) => name === "large");
    if (own.some(({ isLetGo }) => isLetGo)) goes.push((now.getTime() - noon.getTime()) / minutes(1));
    reasons.push(own.map(({ because }) => because).join(" and "));
  }
  return { goes, reasons };
}

describe("a node that is too large", () => {
  test.each([
    [3_700, 16],
    [1_800, 11],
    [900, 10],
  ])(
    "wastes what a node of half its size, or a quarter, or an eighth, would save: with %d of 8000",
    (cpu, goes) => {
      expect(lookAt([pod("large", cpu)]).goes[0]).toBe(goes);
    },
  );

  test.each<[why: string, pods: readonly Bound[], change: Partial<Room>]>([
    ["more than half of it is used", [pod("large", 3_800)], {}],
    [
      "more than half of its memory is used",
      [pod("large", 900, { requests: { cpu: 900, memory: 16e9 } })],
      {},
    ],
    ["nobody knows what its pods use", [pod("large", 0, { requests: {}, ...unknown })], {}],
    ["it takes no pods, like one that a user holds", [pod("large", 3_000)], { isOpen: false }],
    ["it joined a moment ago", [pod("large", 3_000)], { stays: true }],
    ["it has the smallest size", [pod("large", 800)], { allocatable: { cpu: 2_000, pods: 58 } }],
  ])("is none where %s", (_, pods, change) => {
    expect(lookAt(pods, change, hours(3)).reasons.join("")).not.toContain("too large");
  });

  test("names its reason, its price and when it goes", () => {
    const nodes = [room("large"), ...others];
    const pods = [pod("large", 3_000), ...onOthers];
    const { account } = lookAtNodes(waiting, nodes, pods, prices, noon);
    const { verdicts } = lookAtNodes(account, nodes, pods, prices, after(noon, minutes(4)));
    const because = "2m wasted, because it is too large; its removal is worth 8m: 5m and 1 pod";
    expect(verdicts.filter(({ name }) => name === "large")).toEqual([
      { name: "large", isLetGo: false, dueAt: after(noon, minutes(16)), because },
    ]);
  });

  test("stays where work runs on it that must stay, and says so", () => {
    const { goes, reasons } = lookAt([pod("large", 3_000, job)]);
    expect([goes, reasons[2]]).toEqual([[], "1m wasted, because it is too large; a Job runs on it"]);
  });

  test("is judged once where it is superfluous, too", () => {
    const nodes = [room("large"), ...others, room("free")];
    const pods = [pod("large", 3_000), pod("free", 4_500, unknown), ...onOthers];
    const { verdicts } = lookAtNodes(waiting, nodes, pods, prices, noon);
    expect(verdicts.filter(({ name }) => name === "large").map(({ because }) => because)).toEqual([
      "superfluous for 0s; its removal is worth 8m: 5m and 1 pod",
    ]);
  });

  test("wastes nothing more while it is left alone for an hour, because nobody took it in ten minutes", () => {
    const { goes, reasons } = lookAt([pod("large", 3_000)], {}, hours(2));
    expect([goes[0], goes[9], goes[10]]).toEqual([16, 25, 101]);
    expect(reasons[26]).toBe("Karpenter did not take it in ten minutes: it is left alone for an hour");
    expect(reasons.slice(27, 86).join("")).toBe("");
  });
});
