import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { AccessWorld, holdId } from "./access-world.ts";

const former = "karpenter.sh/do-not-consolidate";
const present = "karpenter.sh/do-not-disrupt";

const adminRight = { ResourceType: "Custom::KarpenterNodeHolderAdminRight" };
const create = { RequestType: "Create" };
const remove = { RequestType: "Delete" };
const update = { RequestType: "Update" };

let world: AccessWorld;

/** A cluster whose functions were updated to the present key a moment ago, in the middle of a hold under the former one. */
async function duringAnUpdate(hasPolicies: boolean): Promise<void> {
  world = new AccessWorld();
  world.access.hasPolicies = hasPolicies;
  use(former);
  await world.handle(create);
  const { cluster } = world;
  for (const name of ["old", "both", "new", "owners", "changed", "never", "free"]) cluster.addNode({ name });
  for (const name of ["old", "both", "owners", "changed"]) await world.mark(name, former);
  for (const name of ["both", "new"]) await world.mark(name, present);
  cluster.editNode("owners", { annotations: { [present]: "true" } });
  cluster.editNode("changed", { annotations: { [former]: "8h" } });
  cluster.editNode("never", { labels: { [holdLabel]: "never" }, annotations: { [former]: "true" } });
  cluster.editNode("free", { annotations: { [former]: "true", [present]: "4h" } });
  use(present);
}

/** What the users wrote; it stays as it is whatever we do. */
const usersOwn = {
  owners: { [present]: "true" },
  changed: { [former]: "8h" },
  never: { [holdLabel]: "never", [former]: "true" },
  free: { [former]: "true", [present]: "4h" },
};
function use(holdAnnotation: string): void {
  world.config = { ...world.config, holdAnnotation };
}

/** One node cannot be changed; returns whether that failed the work. */
async function failingAt(node: string, request: object): Promise<boolean> {
  world.onCall = (call) => {
    if (call === `PATCH /api/v1/nodes/${node}`) throw new Error("a webhook does not answer");
  };
  const isFailed = await world.handle(request).then(
    () => false,
    () => true,
  );
  world.onCall = () => {};
  return isFailed;
}

/** The function is killed after so many calls: nothing that it would do later is done. Returns whether it came so far. */
async function killedAfter(calls: number, request: object): Promise<boolean> {
  let left = calls;
  let isKilled = false;
  world.onCall = () => {
    isKilled ||= left === 0;
    left -= 1;
    if (isKilled) throw new Error("killed");
  };
  await world.handle(request).catch(() => {});
  world.onCall = () => {};
  return isKilled;
}

async function destroy(): Promise<void> {
  await world.handle(remove);
  await world.handle({ ...remove, ...adminRight });
  expect(world.admins).toEqual([]);
  expect(world.eks.entries.size).toBe(0);
  expect(world.access.all.size).toBe(0);
}

/** Plays the work once for every call after which it can be killed. */
async function afterEveryCall(play: (calls: number) => Promise<boolean>): Promise<number> {
  for (let calls = 0; ; calls++) if (!(await play(calls))) return calls;
}

describe.each([
  ["with admission policies", true],
  ["without admission policies", false],
])("killed after any call, in a cluster %s", { timeout: 120_000 }, (_, hasPolicies) => {
  it("an installation leaves no admin once it is rolled back", async () => {
    const points = await afterEveryCall(async (calls) => {
      world = new AccessWorld();
      world.access.hasPolicies = hasPolicies;
      const isKilled = await killedAfter(calls, create);
      await world.handle({ ...remove, ...adminRight });
      expect(world.admins, `after ${calls} calls`).toEqual([]);
      return isKilled;
    });
    expect(points).toBeGreaterThan(10);
  });

  it("an installation whose time ends during that call is no admin afterwards", async () => {
    const outOfTime = async (calls: number): Promise<boolean> => {
      const slow = new AccessWorld();
      slow.access.hasPolicies = hasPolicies;
      slow.workUntil = new Date(Date.now() + 50);
      let left = calls;
      slow.onCall = async () => {
        left -= 1;
        if (left === -1) await sleep(100);
      };
      const isLate = await slow.handle(create).then(
        () => false,
        () => true,
      );
      // What it may have left running, too.
      await sleep(100);
      expect(slow.admins, `after ${calls} calls`).toEqual([]);
      return isLate;
    };
    const wereLate = await Promise.all(Array.from({ length: 15 }, (_, calls) => outOfTime(calls)));
    expect(wereLate).toContain(true);
  });

  it("a rollback that is killed, too, leaves no admin once it is repeated", async () => {
    const points = await afterEveryCall(async (calls) => {
      world = new AccessWorld();
      world.access.hasPolicies = hasPolicies;
      for (let killed = 0; world.admins.length === 0; killed++) await killedAfter(killed, create);
      const isKilled = await killedAfter(calls, { ...remove, ...adminRight });
      await world.handle({ ...remove, ...adminRight });
      expect(world.admins, `after ${calls} calls`).toEqual([]);
      return isKilled;
    });
    expect(points).toBeGreaterThan(1);
  });

  it("a change of the annotation, deployed again, removes every mark and leaves no admin", async () => {
    const points = await afterEveryCall(async (calls) => {
      await duringAnUpdate(hasPolicies);
      const isKilled = await killedAfter(calls, update);
      await world.handle(update);
      expect(world.admins, `after ${calls} calls`).toEqual([]);
      expect(world.nodes, `after ${calls} calls`).toEqual(usersOwn);
      expect(await world.rights.annotations(), `after ${calls} calls`).toEqual([present]);
      return isKilled;
    });
    expect(points).toBeGreaterThan(20);
  });

  it("a change of the annotation, rolled back, leaves no mark once the hold ends, and no admin", async () => {
    const points = await afterEveryCall(async (calls) => {
      await duringAnUpdate(hasPolicies);
      const isKilled = await killedAfter(calls, update);
      use(former);
      await world.handle(update);
      expect(world.admins, `after ${calls} calls`).toEqual([]);
      await world.functions(former).release(holdId, { deadline: world.workUntil, log: world.log });
      expect(world.nodes, `after ${calls} calls`).toEqual(usersOwn);
      expect(await world.rights.annotations(), `after ${calls} calls`).toEqual([former]);
      return isKilled;
    });
    expect(points).toBeGreaterThan(20);
  });

  it.each([
    ["a change of the annotation", update],
    ["a destroy", remove],
  ])("%s, then the destroy, removes everything of ours and nothing of the users'", async (_name, request) => {
    const points = await afterEveryCall(async (calls) => {
      await duringAnUpdate(hasPolicies);
      const isKilled = await killedAfter(calls, request);
      await destroy();
      expect(world.nodes, `after ${calls} calls`).toEqual(usersOwn);
      return isKilled;
    });
    expect(points).toBeGreaterThan(20);
  });
});

describe.each([true, false])(
  "a change of the annotation that fails at one node (admission policies: %s)",
  { timeout: 120_000 },
  (hasPolicies) => {
    it.each(["old", "both", "owners"])(
      "%s is completed by the next deployment, the rollback or the destroy",
      async (node) => {
        for (const [key, next] of [
          [present, update],
          [former, update],
          [former, remove],
          [present, remove],
        ] as const) {
          await duringAnUpdate(hasPolicies);
          expect(await failingAt(node, update)).toBe(true);
          use(key);
          await world.handle(next);
          if (next === update) expect(world.nodes).toEqual(usersOwn);
          await destroy();
          expect(world.nodes).toEqual(usersOwn);
        }
      },
    );

    it("does not stop a destroy from removing the other marks and all rights", async () => {
      await duringAnUpdate(hasPolicies);
      await failingAt("old", update);
      // The first deletion reports the node, the second one ends.
      for (const isReported of [true, false]) {
        expect(await failingAt("old", remove)).toBe(isReported);
        expect(world.access.all.size).toBe(0);
        expect(world.eks.entries.size).toBe(0);
        expect(world.nodes).toEqual({ ...usersOwn, old: { [holdLabel]: holdId, [former]: "true" } });
      }
    });
  },
);
