import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { KubernetesNodeClaims } from "../../lambda/kubernetes/nodeclaims.ts";
import { parseQuantity } from "../../lambda/kubernetes/replacement-plan.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

const time = (second: number) => after(noon, seconds(second)).toISOString();
const condition = (type: string, second: number) => ({
  type,
  status: "True",
  lastTransitionTime: time(second),
});
const metadata = (name: string, second: number) => ({ name, creationTimestamp: time(second) });

type Claim = Readonly<{ metadata: { name: string; creationTimestamp: string } }> & Record<string, unknown>;

/** A node that Karpenter chose to replace at this second, with room for this much. */
const chosen = (second: number, cpu: string, memory = "1Ti"): Claim => ({
  metadata: metadata(`old-${second}`, -3_600),
  status: { allocatable: { cpu, memory }, conditions: [condition("DisruptionReason", second)] },
});
/** A NodeClaim that Karpenter launched at this second, and named as a replacement. */
const launched = (
  name: string,
  second: number,
  cpu: string | number,
  memory = "0",
  ready = false,
): Claim => ({
  metadata: metadata(name, second),
  spec: { resources: { requests: { cpu, memory } } },
  status: { conditions: ready ? [condition("Initialized", second + 1)] : [] },
});

/** Which of these NodeClaims are for more than what they replace. */
async function forMore(claims: readonly Claim[], known: readonly string[] = []): Promise<string[]> {
  const names = claims.map((claim) => claim.metadata.name).filter((name) => !name.startsWith("old"));
  const events = names.map((name) => ({
    metadata: { creationTimestamp: noon.toISOString() },
    involvedObject: { name },
  }));
  const nodeClaims = new KubernetesNodeClaims({
    api: {
      call: async ({ path }) => ({ metadata: {}, items: path.endsWith("/events") ? events : claims }),
    },
    karpenter: "v1",
    nodePools: { only: [], except: [] },
  });
  const found = await nodeClaims.replacements(noon, new Set(known), until(after(noon, minutes(1))));
  if ("unavailable" in found) throw new Error(found.unavailable);
  return found.filter(({ isForMore }) => isForMore).map(({ nodeClaim }) => nodeClaim);
}

describe("what Karpenter launched to replace nodes is for waiting pods, too", () => {
  it.each<[string, Claim[], string[]]>([
    [
      "where one more full node was launched",
      [chosen(0, "3900m"), launched("a", 0, "3"), launched("b", 0, "3")],
      ["a", "b"],
    ],
    ["where the quantity is a number", [chosen(0, "3900m"), launched("a", 0, 6)], ["a"]],
    ["where the waiting pods share the new node", [chosen(0, "3900m"), launched("a", 0, "6")], ["a"]],
    ["where they ask for more memory alone", [chosen(0, "4", "7Gi"), launched("a", 0, "1", "8Gi")], ["a"]],
    ["where the clocks differ by a second", [chosen(1, "3900m"), launched("a", 0, "6")], ["a"]],
    [
      "beside other replacements",
      [chosen(0, "4"), chosen(1, "4"), launched("a", 1, "3"), launched("b", 1, "9")],
      ["a", "b"],
    ],
    [
      "beside one that was replaced before",
      [chosen(-9, "64"), chosen(0, "3900m"), launched("a", 0, "6")],
      ["a"],
    ],
  ])("%s", async (_, claims, names) => {
    expect(await forMore(claims)).toEqual(names);
  });

  it.each<[string, Claim[]]>([
    ["where a node is replaced by one like it", [chosen(0, "3900m"), launched("a", 0, "3")]],
    [
      "where two smaller nodes replace a large one",
      [chosen(0, "7900m"), launched("a", 0, "3"), launched("b", 0, "3")],
    ],
    [
      "where one node replaces three",
      [chosen(0, "2"), chosen(0, "2"), chosen(0, "2"), launched("a", 0, "5")],
    ],
    ["where daemons take a little more", [chosen(0, "4"), launched("a", 0, "4400m")]],
    ["where the replaced nodes are gone", [launched("a", 0, "6")]],
    ["where it has replaced them", [chosen(0, "3900m"), launched("a", 0, "6", "0", true)]],
    [
      "where the other has replaced its own",
      [chosen(0, "3900m"), launched("a", 0, "3"), launched("b", 0, "3", "0", true)],
    ],
    ["where the room of the replaced nodes is not known", [chosen(0, "some"), launched("a", 0, "6")]],
  ])("but not %s", async (_, claims) => {
    expect(await forMore(claims)).toEqual([]);
  });

  it("also where one of them is known already", async () => {
    const claims = [chosen(0, "3900m"), launched("a", 0, "3"), launched("b", 0, "3")];
    expect(await forMore(claims, ["a"])).toEqual(["b"]);
  });
});

it.each([
  ["3", 3],
  ["3900m", 3.9],
  ["1.5", 1.5],
  ["2e3", 2_000],
  ["128974848", 128_974_848],
  ["7Gi", 7 * 2 ** 30],
  ["8129Mi", 8_129 * 2 ** 20],
  ["5M", 5e6],
  ["", Number.NaN],
  ["some", Number.NaN],
  ["3x", Number.NaN],
])("reads the quantity %s", (text, value) => {
  expect(parseQuantity(text)).toBe(value);
});
