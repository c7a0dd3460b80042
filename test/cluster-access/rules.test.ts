import { beforeEach, describe, expect, it } from "vitest";
import { clusterRolePath } from "../../lambda/cluster-access/manifest.ts";
import { removeAccess } from "../../lambda/cluster-access/removal.ts";
import { changeAccess, installAccess } from "../../lambda/cluster-access/rules.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { AccessWorld, holdId } from "./access-world.ts";

const other = "example.com/keep";
const present = "karpenter.sh/do-not-disrupt";

let world: AccessWorld;
beforeEach(() => {
  world = new AccessWorld();
});

const install = () => installAccess(world.ports, world.config);
const change = () => changeAccess(world.ports, world.config);
const remove = () => removeAccess(world.ports, world.config);
const entries = () => [...world.eks.entries.keys()];
const failOn = (pattern: RegExp, error = new Error("timed out")) => {
  world.onCall = (call) => {
    if (pattern.test(call)) throw error;
  };
};
const marked = async (...names: string[]) => {
  for (const name of names) world.cluster.addNode({ name });
  for (const name of names) await world.mark(name, present);
};
/** Done once: while API servers learn of a change, or by the caller after it if nothing waits for them. */
const whileWaiting = (act: () => Promise<void>) => {
  let done: Promise<void> | undefined;
  world.onWait = () => (done ??= act());
  return () => world.onWait();
};
const policiesWritten = () =>
  world.calls.filter((call) => /PATCH .*validatingadmissionpolicies/.test(call)).length;
const lines = (level: string) => world.log.lines.filter((line) => line.level === level);

describe("installing", () => {
  it("lets the functions log in, writes what they may do, and is no admin afterwards", async () => {
    await install();

    expect(entries()).toEqual(world.config.roles);
    expect(world.access.all.size).toBe(4);
    expect(world.admins).toEqual([]);
    expect([policiesWritten(), lines("warn")]).toEqual([1, []]);
  });

  it.each<[string, (call: string) => boolean]>([
    ["the second role cannot be let in", (call) => call === "CreateAccessEntry" && entries().length > 1],
    ["the rights cannot be written", (call) => /PATCH .*clusterrolebindings/.test(call)],
  ])("leaves nothing behind when %s", async (_, fails) => {
    world.onCall = (call) => {
      if (fails(call)) throw new Error("timed out");
    };
    await expect(install()).rejects.toThrow("timed out");
    expect(entries()).toEqual([]);
    expect(world.access.all.size).toBe(0);
  });

  it.each([
    ["the rights cannot be written", `PATCH ${clusterRolePath}`, true],
    ["another role cannot be let in", "CreateAccessEntry", true],
    ["it does not know yet which role has them", "CreateAccessEntry", false],
  ])("leaves rights that were given by hand when %s", async (_, failing, isKnown) => {
    const role = world.config.roles.at(isKnown ? 0 : -1) ?? "";
    world.eks.entries.set(role, { groups: ["karpenter-node-holder"], policies: new Set() });
    await world.rights.write(present);
    let creations = 0;
    world.onCall = (call) => {
      if (call === "CreateAccessEntry") creations += 1;
      if (call === failing && (!isKnown || creations > 1)) throw new Error("timed out");
    };
    await expect(install()).rejects.toThrow("timed out");
    expect(entries()).toEqual([role]);
    expect(world.access.all.size).toBe(4);
  });

  it("refuses a cluster that it cannot reach before it changes anything, as an update does", async () => {
    world.eks.vpcConfig = { endpointPublicAccess: true, publicAccessCidrs: ["203.0.113.0/24"] };

    await expect(install()).rejects.toThrow("203.0.113.0/24");
    await expect(change()).rejects.toThrow("203.0.113.0/24");

    expect(new Set(world.calls)).toEqual(new Set(["DescribeCluster"]));
  });

  it("warns that an older cluster has no admission policies", async () => {
    world.access.hasPolicies = false;
    await install();
    expect(lines("warn")).toHaveLength(1);
  });
});

describe("changing", () => {
  it("writes the rights once and leaves every mark where the annotation is the same", async () => {
    await install();
    await marked("a");
    world.calls.length = 0;

    await change();

    expect(policiesWritten()).toBe(1);
    expect(world.nodes).toEqual({ a: { [holdLabel]: holdId, [present]: "true" } });
  });

  it("succeeds for a cluster that is gone or being deleted, so that an update and its rollback end", async () => {
    await install();
    world.eks.status = "DELETING";
    await change();
    world.config = { ...world.config, cluster: "gone" };
    await change();
    expect(lines("warn").map(({ sentence }) => sentence)).toEqual(
      Array(2).fill("nothing was changed: there is no such cluster any more"),
    );
  });

  it("to mode=observe takes the right to patch nodes, removes every mark, and back to hold gives the right again", async () => {
    world.cluster.addNode({ name: "a" });
    const given: boolean[] = [];
    for (const mode of ["hold", "observe", "hold"] as const) {
      world.config = { ...world.config, mode };
      await world.mark("a", present);
      await change();
      given.push(JSON.stringify(world.access.all.get(clusterRolePath)).includes('"patch"'));
      expect(Object.keys(world.nodes)).toEqual(mode === "observe" ? [] : ["a"]);
    }
    expect(given).toEqual([true, false, true]);
  });

  it("to another annotation is refused while nodes are marked, with the command that releases them", async () => {
    await change();
    await marked("a", "b");
    const before = [...world.access.all];
    world.config = { ...world.config, holdAnnotation: other };
    const refused = change();
    await expect(refused).rejects.toThrow(BrokenSetupError);
    await expect(refused).rejects.toThrow(
      `2 nodes are marked by the annotation ${present}, and this deployment names ${other}\nRelease them first: npx karpenter-node-holder pause --cluster blue `,
    );
    expect([[...world.access.all], Object.keys(world.nodes), world.admins]).toEqual([before, ["a", "b"], []]);
  });

  it("to another annotation is done where no node is marked; a user's own annotation is no mark", async () => {
    await change();
    world.cluster.addNode({ name: "users", annotations: { [present]: "true" } });
    // The user has taken over a mark: the annotation stays, and the API server records that the holder set it.
    world.cluster.addNode({ name: "taken" });
    await world.mark("taken", present);
    world.cluster.editNode("taken", { labels: { [holdLabel]: "mine" } });
    world.config = { ...world.config, holdAnnotation: other };
    await change();
    expect(JSON.stringify([...world.access.all])).toContain(other);
    expect(JSON.stringify([...world.access.all])).not.toContain(present);
    expect(world.nodes).toEqual({
      users: { [present]: "true" },
      taken: { [holdLabel]: "mine", [present]: "true" },
    });
  });

  it("removes what a function marked by the former annotation before every API server knew the policy", async () => {
    world.cluster.addNode({ name: "late" });
    world.config = { ...world.config, holdAnnotation: other };
    const markLate = whileWaiting(() => world.mark("late", present));

    await change();
    await markLate();

    expect(world.nodes).toEqual({});
    expect(world.log.reported("marks removed")).toMatchObject([{ others: [present], nodes: 1 }]);
  });
});

describe("removing", () => {
  beforeEach(async () => {
    await install();
    await marked("a", "b");
  });

  it("removes marks, rights and entries; again, it changes nothing", async () => {
    expect(await remove()).toEqual({ remains: [], isReported: false });
    expect(await remove()).toEqual({ remains: [], isReported: false });
    expect([world.nodes, entries(), world.access.all.size]).toEqual([{}, [], 0]);
  });

  it("revokes the rights before it removes marks for the last time", async () => {
    world.calls.length = 0;
    await remove();

    const order = world.calls.map((call) =>
      /DELETE .*\/(clusterroles|clusterrolebindings)|GET.*nodes/.exec(call),
    );
    expect(order.flatMap((found) => (found ? [found[1] ?? "list"] : []))).toEqual([
      ...["list", "clusterrolebindings", "list", "clusterroles", "clusterrolebindings"],
    ]);
  });

  it("removes also what a function marks before every API server knows that it may not", async () => {
    world.cluster.addNode({ name: "late" });
    const markLate = whileWaiting(() => world.mark("late", present));
    expect(await remove()).toMatchObject({ remains: [] });
    await markLate();
    expect(world.nodes).toEqual({});
  });

  it("removes all rights and every other mark when one node cannot be changed", async () => {
    failOn(/PATCH .*nodes\/a/);

    expect(await remove()).toMatchObject({
      remains: ["marks on nodes, ClusterRole, binding or policy (the marks of 1 nodes could not be removed)"],
    });

    expect(Object.keys(world.nodes)).toEqual(["a"]);
    expect(world.access.all.size).toBe(0);
    expect(entries()).toEqual([]);
  });

  it("leaves a cluster alone that is being deleted or is gone", async () => {
    world.calls.length = 0;
    world.eks.status = "DELETING";
    expect((await remove()).remains).toEqual([]);
    world.config = { ...world.config, cluster: "gone" };
    expect((await remove()).remains).toEqual([]);
    expect(world.calls).toEqual(Array(2).fill("DescribeCluster"));
  });

  it.each([
    [/ \/api/, "marks on nodes, ClusterRole, binding or policy (timed out)", true],
    [/DescribeCluster/, "everything: the cluster could not be described (timed out)", false],
  ])(
    "reports what remains where %s fails, and removes the entries if it knows the cluster",
    async (call, what, isKnown) => {
      failOn(call);
      expect(await remove()).toEqual({ remains: [what], isReported: false });
      expect(entries()).toEqual(isKnown ? [] : world.config.roles);
      expect(world.log.reported("marks or rights of the holder remain in the cluster")).toHaveLength(1);
    },
  );

  it("names the access entries that remain", async () => {
    failOn(/DeleteAccessEntry/);
    const remaining = world.config.roles.map((role) => `access entry of ${role} (timed out)`);
    expect((await remove()).remains).toEqual(expect.arrayContaining(remaining));
  });
});
