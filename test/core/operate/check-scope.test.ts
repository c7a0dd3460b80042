import { describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { BadInputError } from "../../../lambda/core/errors.ts";
import { holdAsAsked } from "../../../lambda/core/operate/hold.ts";
import { forceRelease, pause, releaseRequest, resume } from "../../../lambda/core/operate/release.ts";
import type { Context } from "../../../lambda/core/ports.ts";
import type { ScopeRecord } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import { aHeldRecord, aQuiet, aRequest } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const reason = "test";
const operations = {
  hold: (context: Context, scope: Scope) =>
    holdAsAsked(context, scope, { name: "by-hand", for: minutes(45), reason, cause: "person" }),
  pause: (context: Context, scope: Scope) => pause(context, { scope, reason }),
  resume: (context: Context, scope: Scope) => resume(context, scope),
  release: (context: Context, scope: Scope) => forceRelease(context, { scope, reason }),
};
const each = Object.entries(operations);
const byNodePool = { scope: "nodepool" } as const;
const nodePools = ["default", "gpu"];
const batch = aHeldRecord({ scope: "nodepool/batch", requests: [aRequest()] });

type Options = Readonly<{
  nodePools?: readonly string[];
  rules?: Partial<Rules>;
  records?: readonly ScopeRecord[];
}>;

/** A context in a world with a node in each of these NodePools. */
function contextWith({ nodePools = [], ...options }: Options) {
  const { world, context, record } = coreWorld(options);
  for (const pool of nodePools) world.nodes.add(`node-of-${pool}`, { pool });
  return { world, record, context: context() };
}

describe.each(each)("the operation %s", (name, operate) => {
  it("refuses a NodePool where holds are for the whole cluster", async () => {
    const { context, record } = contextWith({ nodePools });
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
    const { context, world, record } = contextWith({ nodePools, rules: byNodePool, records: [batch] });
    const refused = operate(context, `nodepool/${typed}`);
    await expect(refused).rejects.toThrow(BadInputError);
    await expect(refused).rejects.toThrow(
      `Cannot ${name}: no node of NodePool ${typed}; did you mean ${meant}?`,
    );
    expect([record(`nodepool/${typed}`), world.nodes.marks()]).toEqual([undefined, {}]);
  });

  it("refuses a name that is like no other, and lists the NodePools that have nodes", async () => {
    const { context } = contextWith({ nodePools, rules: byNodePool, records: [batch] });
    await expect(operate(context, "nodepool/web")).rejects.toThrow(
      "no node of NodePool web; NodePools with nodes: default, gpu;",
    );
    const none = contextWith({ rules: byNodePool });
    await expect(operate(none.context, "nodepool/web")).rejects.toThrow("NodePools with nodes: none;");
  });

  it("accepts a NodePool that has a node, or a record and no node", async () => {
    const { context } = contextWith({ nodePools: ["default"], rules: byNodePool, records: [batch] });
    for (const scope of ["nodepool/default", "nodepool/batch"] as const)
      expect(await operate(context, scope)).toHaveProperty("because");
  });
});

it.each(["pause", "resume", "release"] as const)(
  "%s of the whole cluster works with any setting, and lists no NodePools",
  async (name) => {
    const { context } = contextWith({ rules: byNodePool });
    const { nodes } = context;
    nodes.nodePools = () => Promise.reject(new Error("not needed"));
    expect(await operations[name](context, "cluster")).toHaveProperty("because");
  },
);

it("a hold of the whole cluster is refused where holds are by NodePool", async () => {
  const { context } = contextWith({ rules: byNodePool });
  await expect(operations.hold(context, "cluster")).rejects.toThrow('scope must be "nodepool/NAME"');
});

it("a hold that was recorded before `scope` changed can be released as long as it is there", async () => {
  const { context, record } = contextWith({ records: [batch] });
  await operations.release(context, batch.scope);
  expect(record(batch.scope)?.hold?.ended).toBeDefined();
  const { hold: _, ...over } = batch;
  const other = contextWith({ records: [over] });
  await expect(operations.release(other.context, batch.scope)).rejects.toThrow('scope must be "cluster"');
});

describe("a NodePool that the settings leave out", () => {
  const rules = { ...byNodePool, nodePools: { only: [], except: ["gpu"] } };
  const gpu = aHeldRecord({ scope: "nodepool/gpu", quiet: aQuiet("paused") });

  it("is in no list of those with nodes", async () => {
    const { context } = contextWith({ nodePools, rules });
    await expect(operations.hold(context, "nodepool/web")).rejects.toThrow("with nodes: default;");
  });

  it("can be resumed where it was paused before", async () => {
    const { context } = contextWith({ nodePools, rules, records: [gpu] });
    expect(await operations.resume(context, gpu.scope)).toMatchObject({ resumed: [gpu.scope] });
  });

  it.each([
    ["hold", [gpu]],
    ["pause", [gpu]],
    ["resume", []],
  ] as const)("is refused: %s", async (name, records) => {
    for (const recorded of [[], records]) {
      const { context } = contextWith({ nodePools, rules, records: recorded });
      await expect(operations[name](context, gpu.scope)).rejects.toThrow(
        `Cannot ${name}: the setting nodePools leaves out NodePool gpu`,
      );
    }
  });

  it("can be released, because its nodes may still be marked", async () => {
    const { context } = contextWith({ nodePools, rules });
    expect(await operations.release(context, "nodepool/gpu")).toMatchObject({ released: 0, failed: 0 });
  });
});

it.each([
  ["hold", "hold it once it has one"],
  ["pause", "pause it once it has one, or pause the whole cluster"],
  ["resume", "there is nothing to resume"],
  ["release", "there is nothing to release"],
] as const)("%s says what to do about a NodePool that has no node yet", async (name, way) => {
  const { context } = contextWith({ nodePools: ["batch-a"], rules: byNodePool });
  await expect(operations[name](context, "nodepool/batch-b")).rejects.toThrow(
    `did you mean batch-a? If not, ${way}`,
  );
});

it("the release of one request is checked like a forced one", async () => {
  const { context } = contextWith({ nodePools, rules: byNodePool, records: [batch] });
  const release = (scope: Scope) => releaseRequest(context, { name: "load-test", scope });
  expect(await release("nodepool/batch")).toMatchObject({ because: "request load-test was released" });
  await expect(release("nodepool/defalt")).rejects.toThrow(
    "Cannot release: no node of NodePool defalt; did you mean default?",
  );
});

it.each(["event", "window"] as const)("a hold for an %s needs no node yet", async (cause) => {
  const { context } = contextWith({ rules: byNodePool });
  const request = { name: "deploys", for: minutes(45), reason, cause };
  expect(await holdAsAsked(context, "nodepool/night", request)).toHaveProperty("holdId");
});

it("a long list of NodePools is cut", async () => {
  const many = Array.from({ length: 12 }, (_, n) => `other-pool-${"abcdefghijkl"[n]}`);
  const { context } = contextWith({ nodePools: many, rules: byNodePool });
  await expect(operations.release(context, "nodepool/x")).rejects.toThrow(
    /other-pool-a, .*other-pool-j and 2 more;/,
  );
});
