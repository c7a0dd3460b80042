import { describe, expect, it } from "vitest";
import { describeCauses, withLaunches, withRequest, withUse } from "../../../lambda/core/holds/causes.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aLaunch } from "../../support/builders.ts";

const inPools = (...pools: readonly string[]) => pools.map((nodePool) => aLaunch({ nodePool }));

describe("the causes of a hold", () => {
  it("count launches by NodePool", () => {
    const first = withLaunches({}, inPools("a", "b", "a"));
    expect(first).toEqual({ launches: { a: 2, b: 1 } });
    expect(withLaunches({ ...first, uses: 1 }, inPools("b"))).toEqual({ launches: { a: 2, b: 2 }, uses: 1 });
  });

  it("name ten NodePools and count the others together", () => {
    const pools = Array.from({ length: 12 }, (_, n) => `p${n}`);
    const { launches = {} } = withLaunches({}, inPools(...pools, "p3", "p11"));
    expect(Object.keys(launches)).toEqual([...pools.slice(0, 10), "others"]);
    expect([launches.p3, launches.others]).toEqual([2, 3]);
  });

  it("count uses, and keep the last reason of each wish", () => {
    expect(withUse(withUse({}, noon), noon)).toEqual({ uses: 2, usedAt: noon });
    expect(withRequest(withRequest({ uses: 1 }, "hand", "old"), "hand", "new")).toEqual({
      uses: 1,
      hand: "new",
    });
  });

  it.each([
    ["one launch", { launches: 1, causes: { launches: { a: 1 } } }, "1 launch in NodePool a"],
    ["launches in one NodePool", { launches: 3, causes: { launches: { a: 3 } } }, "3 launches in NodePool a"],
    [
      "launches in several",
      { launches: 3, causes: { launches: { a: 2, b: 1 } } },
      "3 launches in NodePools a (2), b (1)",
    ],
    ["one use", { causes: { uses: 1 } }, "extended by use once"],
    [
      "several causes",
      { causes: { uses: 2, hand: "x", event: "y", window: "z" } },
      "extended by use 2 times; x; y; z",
    ],
  ])("are one line: %s", (_, about, line) => {
    expect(describeCauses(aHold(about))).toBe(line);
  });
});
