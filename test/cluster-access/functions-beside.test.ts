import { describe, expect, it } from "vitest";
import { hours } from "../../lambda/core/duration.ts";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import { AccessWorld, holdId } from "./access-world.ts";

const former = "karpenter.sh/do-not-consolidate";
const present = "karpenter.sh/do-not-disrupt";
const nextHold = "20260131t100000-abcdef";
const update = { RequestType: "Update" };

/** A cluster in the middle of a hold under the former key, with users' annotations of each kind. */
async function heldUnderFormer(): Promise<AccessWorld> {
  const world = new AccessWorld();
  // With policies the server refuses what would be wrong; here only the code keeps to its marks.
  world.access.hasPolicies = false;
  world.config = { ...world.config, holdAnnotation: former };
  await world.handle({ RequestType: "Create" });
  const { cluster } = world;
  const labels = karpentersLabels("v1", "default");
  for (const name of ["held", "owners", "changed", "free", "new"]) cluster.addNode({ name, labels });
  for (const name of ["held", "owners", "changed"]) await world.mark(name, former);
  cluster.editNode("owners", { annotations: { [present]: "true" } });
  cluster.editNode("changed", { annotations: { [former]: "8h" } });
  cluster.editNode("free", { annotations: { [former]: "true", [present]: "4h" } });
  world.config = { ...world.config, holdAnnotation: present };
  return world;
}

const usersOwn = {
  held: {},
  owners: { [present]: "true" },
  changed: { [former]: "8h" },
  free: { [former]: "true", [present]: "4h" },
  new: {},
};

function texts(world: AccessWorld) {
  const ownLabels = Object.keys(karpentersLabels("v1", "default"));
  const rest = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => !ownLabels.includes(key)));
  return Object.fromEntries(Object.entries(world.nodes).map(([name, all]) => [name, rest(all)]));
}

type Act = (world: AccessWorld) => Promise<unknown>;
const context = (world: AccessWorld) => ({ deadline: new Date(Date.now() + hours(1)), log: world.log });
const marking =
  (key: string): Act =>
  (world) =>
    world.functions(key).mark({ scope: "cluster", holdId: nextHold }, context(world));
const releasing =
  (key: string): Act =>
  (world) =>
    world.functions(key).release(holdId, context(world));
const acts: [string, Act][] = [
  ["a function that uses the new key marks", marking(present)],
  ["a function that still uses the former key marks", marking(former)],
  ["a function that uses the new key releases", releasing(present)],
  ["a function that still uses the former key releases", releasing(former)],
];

/** The functions do this right before the call of that number; then the work goes on, or is killed there. */
async function during(world: AccessWorld, calls: number, act: Act): Promise<boolean> {
  const isKilled = calls % 2 === 1;
  let left = calls;
  world.onCall = async () => {
    left -= 1;
    if (left === -1) await act(world);
    if (left < 0 && isKilled) throw new Error("killed");
  };
  await world.handle(update).catch(() => {});
  world.onCall = () => {};
  return left < 0;
}

describe("while the annotation changes", { timeout: 120_000 }, () => {
  it.each(acts)(
    "%s before any call: in the end nothing of ours is left, and all of the users' own",
    async (_, act) => {
      let calls = 0;
      for (let isReached = true; isReached; calls++) {
        const world = await heldUnderFormer();
        isReached = await during(world, calls, act);
        await world.handle(update);
        for (const id of [holdId, nextHold]) await world.functions(present).release(id, context(world));
        expect(texts(world), `before call ${calls}`).toEqual(usersOwn);
      }
      expect(calls).toBeGreaterThan(20);
    },
  );
});
