import { describe, expect, it } from "vitest";
import { parseQuantity, readResources } from "../../lambda/kubernetes/quantity.ts";

describe("a quantity", () => {
  it.each([
    ["2", 2],
    ["1.5", 1.5],
    [".5", 0.5],
    ["100m", 0.1],
    ["9m", 0.009],
    ["3k", 3_000],
    ["2M", 2e6],
    ["1E", 1e18],
    ["1.5Gi", 1.5 * 2 ** 30],
    ["1Ki", 1_024],
    ["2e3", 2_000],
    ["1E3", 1_000],
    ["5e-1", 0.5],
  ])("%s is %d", (text, amount) => {
    expect(parseQuantity(text)).toBe(amount);
  });

  it.each(["", "m", "much", "1K", "1 Gi", "1Gi2", "0x10", "Infinity"])("%j is none", (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });
});

describe("resources", () => {
  it("have cpu in thousandths of a core and all else as it is, also where the API has numbers", () => {
    const amounts = { cpu: "1500m", memory: "1Gi", pods: 58, "nvidia.com/gpu": "1" };
    expect(readResources(amounts)).toEqual({ cpu: 1_500, memory: 2 ** 30, pods: 58, "nvidia.com/gpu": 1 });
  });

  it("count as none where they cannot be read", () => {
    expect(readResources({ cpu: "much" })).toEqual({ cpu: 0 });
  });
});
