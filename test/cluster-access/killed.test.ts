import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { AccessWorld, adminRole, holdId } from "./access-world.ts";

const present = "karpenter.sh/do-not-disrupt";

const adminRight = { ResourceType: "Custom::KarpenterNodeHolderAdminRight" };
const create = { RequestType: "Create" };
const remove = { RequestType: "Delete" };
const update = { RequestType: "Update" };

let world: AccessWorld;

/** A cluster in the middle of a hold, whose holder is to observe from now on. */
async function duringAnUpdate(hasPolicies: boolean): Promise<void> {
  world = new AccessWorld();
  world.access.hasPolicies = hasPolicies;
  await world.handle(create);
  const { cluster } = world;
  for (const name of ["held", "held2", "changed", "never", "free"]) cluster.addNode({ name });
  for (const name of ["held", "held2", "changed"]) await world.mark(name, present);
  cluster.editNode("changed", { annotations: { [present]: "8h" } });
  cluster.editNode("never", { labels: { [holdLabel]: "never" }, annotations: { [present]: "true" } });
  cluster.editNode("free", { annotations: { [present]: "true" } });
  world.config = { ...world.config, mode: "observe" };
}

/** What the users wrote; it stays as it is whatever we do. */
const usersOwn = {
  changed: { [present]: "8h" },
  never: { [holdLabel]: "never", [present]: "true" },
  free: { [present]: "true" },
};

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

  it("a change to mode=observe, deployed again, removes every mark and leaves no admin", async () => {
    const points = await afterEveryCall(async (calls) => {
      await duringAnUpdate(hasPolicies);
      const isKilled = await killedAfter(calls, update);
      await world.handle(update);
      expect(world.admins, `after ${calls} calls`).toEqual([]);
      expect(world.nodes, `after ${calls} calls`).toEqual(usersOwn);
      return isKilled;
    });
    expect(points).toBeGreaterThan(15);
  });

  it("that change, rolled back, leaves the rights to hold, and no admin", async () => {
    const points = await afterEveryCall(async (calls) => {
      await duringAnUpdate(hasPolicies);
      const isKilled = await killedAfter(calls, update);
      world.config = { ...world.config, mode: "hold" };
      await world.handle(update);
      expect(world.admins, `after ${calls} calls`).toEqual([]);
      expect(JSON.stringify([...world.access.all]), `after ${calls} calls`).toContain('"patch"');
      expect(world.nodes, `after ${calls} calls`).toMatchObject(usersOwn);
      return isKilled;
    });
    expect(points).toBeGreaterThan(15);
  });

  it.each([
    ["that change", update],
    ["a destroy", remove],
  ])("%s, then the destroy, removes everything of ours and nothing of the users'", async (_name, request) => {
    const points = await afterEveryCall(async (calls) => {
      await duringAnUpdate(hasPolicies);
      const isKilled = await killedAfter(calls, request);
      await destroy();
      expect(world.nodes, `after ${calls} calls`).toEqual(usersOwn);
      return isKilled;
    });
    expect(points).toBeGreaterThan(15);
  });
});

describe.each([true, false])(
  "a removal of marks that fails at one node (admission policies: %s)",
  { timeout: 120_000 },
  (hasPolicies) => {
    it.each([update, remove])("is completed by the next deployment or the destroy: %j", async (next) => {
      await duringAnUpdate(hasPolicies);
      expect(await failingAt("held", update)).toBe(true);
      await world.handle(next);
      expect(world.nodes).toEqual(usersOwn);
      await destroy();
      expect(world.nodes).toEqual(usersOwn);
    });

    it("does not stop a destroy from removing the other marks and all rights", async () => {
      await duringAnUpdate(hasPolicies);
      await failingAt("held", update);
      // The first deletion reports the node, the second one ends.
      for (const isReported of [true, false]) {
        expect(await failingAt("held", remove)).toBe(isReported);
        expect(world.access.all.size).toBe(0);
        expect([...world.eks.entries.keys()]).toEqual(isReported ? [adminRole] : []);
        expect(world.admins).toEqual([]);
        expect(world.nodes).toEqual({ ...usersOwn, held: { [holdLabel]: holdId, [present]: "true" } });
      }
    });
  },
);
