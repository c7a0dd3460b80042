import { beforeEach, describe, expect, it } from "vitest";
import { AccessWorld } from "./access-world.ts";

const create = { RequestType: "Create" };
const remove = { RequestType: "Delete", PhysicalResourceId: "cluster-access/prod" };
const adminRight = { ResourceType: "Custom::KarpenterNodeHolderAdminRight" };

let world: AccessWorld;
beforeEach(() => {
  world = new AccessWorld();
});
/** The API server of the cluster cannot be reached; EKS can. */
const cutOff = () => {
  world.onCall = (call) => {
    if (call.includes(" /api")) throw new Error("connect ETIMEDOUT 10.0.0.1:443");
  };
};

describe("a removal that leaves something", () => {
  it("fails once, with what may remain, when the cluster cannot be reached; the next one succeeds", async () => {
    await world.handle(create);
    cutOff();

    await expect(world.handle(remove)).rejects.toThrow(
      /^These may remain in cluster prod: marks on nodes.*ETIMEDOUT 10\.0\.0\.1:443\)\.\nDelete the stack again/,
    );

    world.startAnew();
    expect(await world.handle(remove)).toEqual({ PhysicalResourceId: "cluster-access/prod" });
  });

  it("fails once, too, where somebody has removed all access entries before", async () => {
    await world.handle(create);
    world.eks.entries.clear();
    cutOff();
    await expect(world.handle(remove)).rejects.toThrow("may remain in cluster prod: marks on nodes");
    expect(world.admins).toEqual([]);
    world.startAnew();
    await world.handle(remove);
    await world.handle({ ...remove, ...adminRight });
    expect([...world.eks.entries.keys()]).toEqual([]);
  });

  it.each([
    ["throttles calls", { throttlesRemovals: true }],
    ["does not answer", { isUnreachable: true }],
  ])("fails once where EKS %s, and names the command that takes marks off", async (_, damage) => {
    await world.handle(create);
    Object.assign(world.eks, damage);
    const report =
      /may remain in cluster prod: .*\n.* again within five minutes: .*release --force --kubeconfig FILE/;
    await expect(world.handle(remove)).rejects.toThrow(report);
    expect(await world.handle(remove)).toEqual({ PhysicalResourceId: "cluster-access/prod" });
  });

  it("reports once more where EKS does not answer and nobody knows of the report before", async () => {
    await world.handle(create);
    world.eks.isUnreachable = true;
    await expect(world.handle(remove)).rejects.toThrow("may remain");
    world.startAnew();
    await expect(world.handle(remove)).rejects.toThrow("may remain");
    await world.handle(remove);
  });
});
