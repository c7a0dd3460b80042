import { describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { BadInputError } from "../../../lambda/core/errors.ts";
import { holdByHand } from "../../../lambda/core/operate/hold-by-hand.ts";
import { forceRelease, pause, resume } from "../../../lambda/core/operate/release-by-hand.ts";
import type { Context } from "../../../lambda/core/ports.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";
import { toSweep } from "../../support/sweep-world.ts";

const reason = "test";
const operations = {
  hold: (context: Context, scope: Scope) =>
    holdByHand(context, scope, { for: minutes(45), reason, cause: "hand" }),
  pause: (context: Context, scope: Scope) => pause(context, { scope, reason }),
  resume: (context: Context, scope: Scope) => resume(context, scope),
  release: (context: Context, scope: Scope) => forceRelease(context, { scope, reason }),
};
const each = Object.entries(operations);
const byNodePool = { scope: "nodepool" } as const;
const nodePools = ["default", "gpu"];
const batch = aRecord({ scope: "nodepool/batch", hold: aHold() });

describe.each(each)("the operation %s", (name, operate) => {
  it("refuses a NodePool where holds are for the whole cluster", async () => {
    const { context, record } = coreWorld({ nodePools });
    const refused = operate(context, "nodepool/default");
    await expect(refused).rejects.toThrow(BadInputError);
    await expect(refused).rejects.toThrow(
      `Cannot ${name}: scope must be "cluster" with this deployment's settings, not "nodepool/default"`,
    );
    expect(record("nodepool/default")).toBeUndefined();
  });

  it.each([
    ["a NodePool with nodes", "defalt", "default"],
    ["a NodePool with a record", "btach", "batch"],
  ])("refuses a mistyped name, and names the nearest: %s", async (_, typed, meant) => {
    const { context, calls, record } = coreWorld({ nodePools, rules: byNodePool, records: [batch] });
    const refused = operate(context, `nodepool/${typed}`);
    await expect(refused).rejects.toThrow(BadInputError);
    await expect(refused).rejects.toThrow(
      `Cannot ${name}: no node of NodePool ${typed}; did you mean ${meant}?`,
    );
    expect([record(`nodepool/${typed}`), calls]).toEqual([undefined, []]);
  });

  it("refuses a name that is like no other, and lists the NodePools that have nodes", async () => {
    const { context } = coreWorld({ nodePools, rules: byNodePool, records: [batch] });
    await expect(operate(context, "nodepool/web")).rejects.toThrow(
      "no node of NodePool web; NodePools with nodes: default, gpu;",
    );
    const none = coreWorld({ rules: byNodePool });
    await expect(operate(none.context, "nodepool/web")).rejects.toThrow("NodePools with nodes: none;");
  });

  it("accepts a NodePool that has a node, or a record and no node", async () => {
    const { context } = coreWorld({ nodePools: ["default"], rules: byNodePool, records: [batch] });
    for (const scope of ["nodepool/default", "nodepool/batch"] as const)
      expect(await operate(context, scope)).toHaveProperty("because");
  });
});

it.each(["pause", "resume", "release"] as const)(
  "%s of the whole cluster works with any setting, and lists no NodePools",
  async (name) => {
    const { context } = toSweep({ rules: byNodePool });
    context.nodes.nodePools = () => Promise.reject(new Error("not needed"));
    expect(await operations[name](context, "cluster")).toHaveProperty("because");
  },
);

it("a hold of the whole cluster is refused where holds are by NodePool", async () => {
  const { context } = coreWorld({ rules: byNodePool });
  await expect(operations.hold(context, "cluster")).rejects.toThrow('scope must be "nodepool/NAME"');
});

it("a hold that was recorded before `scope` changed can be released", async () => {
  const { context, calls } = coreWorld({ records: [batch] });
  await operations.release(context, batch.scope);
  expect(calls).toEqual([["release", batch.hold?.id]]);
});

describe("a NodePool that the settings leave out", () => {
  const rules = { ...byNodePool, nodePools: { only: [], except: ["gpu"] } };

  it.each(["hold", "pause", "resume"] as const)("counts as one without nodes: %s", async (name) => {
    const { context } = coreWorld({ nodePools, rules });
    await expect(operations[name](context, "nodepool/gpu")).rejects.toThrow("with nodes: default;");
  });

  it("can be released, because its nodes may still be marked", async () => {
    const { context } = coreWorld({ nodePools, rules });
    expect(await operations.release(context, "nodepool/gpu")).toMatchObject({ because: "nothing is held" });
  });
});

it.each([
  ["hold", "hold it once it has one"],
  ["pause", "pause it once it has one, or pause the whole cluster"],
  ["resume", "there is nothing to resume"],
  ["release", "there is nothing to release"],
] as const)("%s says what to do about a NodePool that has no node yet", async (name, way) => {
  const { context } = coreWorld({ nodePools: ["batch-a"], rules: byNodePool });
  await expect(operations[name](context, "nodepool/batch-b")).rejects.toThrow(
    `did you mean batch-a? If not, ${way}`,
  );
});

it.each(["event", "window"] as const)("a hold for an %s needs no node yet", async (cause) => {
  const { context } = coreWorld({ rules: byNodePool });
  const request = { for: minutes(45), reason, cause };
  expect(await holdByHand(context, "nodepool/night", request)).toHaveProperty("holdId");
});

it("a long list of NodePools is cut", async () => {
  const many = Array.from({ length: 12 }, (_, n) => `other-pool-${"abcdefghijkl"[n]}`);
  const { context } = coreWorld({ nodePools: many, rules: byNodePool });
  await expect(operations.release(context, "nodepool/x")).rejects.toThrow(
    /other-pool-a, .*other-pool-j and 2 more;/,
  );
});
