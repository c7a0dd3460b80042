import { expect, it } from "vitest";
import {
  changeAccess,
  type DesiredAccess,
  installAccess,
  removeAccess,
} from "../../lambda/cluster-access/rules.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { MemoryCluster } from "../support/memory-cluster.ts";

const wish: DesiredAccess = {
  cluster: "prod",
  holdAnnotation: "a/new",
  principals: ["role/hold", "role/sweep"],
};

function aCluster() {
  const entries = new MemoryCluster();
  const log = new CollectedLog();
  return { entries, log };
}

it("lets the functions in and writes what they may do", async () => {
  const ports = aCluster();

  await installAccess(ports, wish);

  expect([...ports.entries.admitted]).toEqual(["role/hold", "role/sweep"]);
  expect(ports.entries.written).toEqual(["a/new"]);
});

it("is nobody's admin after its work, also when the work failed", async () => {
  const ports = aCluster();
  ports.entries.outOfReach = new Error("timed out");

  await expect(installAccess(ports, wish)).rejects.toThrow("timed out");

  expect(ports.entries.isAdmin).toBe(false);
});

it("leaves nothing behind when it cannot be installed", async () => {
  const ports = aCluster();
  ports.entries.outOfReach = new Error("timed out");

  await expect(installAccess(ports, wish)).rejects.toThrow("timed out");

  expect(ports.entries.admitted.size).toBe(0);
});

it("leaves the rights that were given by hand when it cannot be installed", async () => {
  const ports = aCluster();
  await ports.entries.admit("role/hold");
  ports.entries.written = ["a/new"];
  ports.entries.asAdmin = async () => {
    throw new Error("may not become an admin");
  };

  await expect(installAccess(ports, wish)).rejects.toThrow("may not become an admin");

  expect(ports.entries.admitted).toContain("role/hold");
  expect(ports.entries.written).toEqual(["a/new"]);
});

it("refuses a cluster that knows no access entries, and says how to mend it", async () => {
  const ports = aCluster();
  ports.entries.lets = "config map";

  await expect(installAccess(ports, wish)).rejects.toThrow(
    /--name prod .*authenticationMode=API_AND_CONFIG_MAP/,
  );
});

it("refuses a cluster that it cannot reach before it changes anything, on install and on update", async () => {
  const ports = aCluster();
  ports.entries.unreachable = "the endpoint answers 203.0.113.0/24 only: deploy with vpc";

  await expect(installAccess(ports, wish)).rejects.toThrow("deploy with vpc");
  await expect(changeAccess(ports, wish, wish)).rejects.toThrow("deploy with vpc");

  expect(ports.entries.admitted.size).toBe(0);
  expect(ports.entries.did).toEqual([]);
});

it("names the cluster that does not exist", async () => {
  const ports = aCluster();
  ports.entries.lets = undefined;

  await expect(installAccess(ports, wish)).rejects.toThrow("no EKS cluster named prod");
});

it("says that an older cluster has no admission policies", async () => {
  const ports = aCluster();
  ports.entries.knowsPolicies = false;

  await installAccess(ports, wish);

  expect(ports.log.lines.filter((line) => line.level === "warn")).toHaveLength(1);
});

it("moves marks to another annotation while the cluster's policy takes both", async () => {
  const ports = aCluster();
  ports.entries.marks.set("node-a", "a/old");

  await changeAccess(ports, { ...wish, holdAnnotation: "a/old" }, wish);

  expect(ports.entries.did).toEqual([
    "hand over a/old a/new",
    "write a/old a/new",
    "move a/old a/new",
    "write a/new",
    "move a/old a/new",
  ]);
  expect(ports.entries.marks.get("node-a")).toBe("a/new");
});

it("touches no mark while the annotation stays", async () => {
  const ports = aCluster();

  await changeAccess(ports, wish, wish);

  expect(ports.entries.did).toEqual(["write a/new"]);
});

it("lets in the functions' new roles and no longer the old ones", async () => {
  const ports = aCluster();
  await installAccess(ports, wish);

  await changeAccess(ports, wish, { ...wish, principals: ["role/sweep", "role/hold-2"] });

  expect([...ports.entries.admitted].sort()).toEqual(["role/hold-2", "role/sweep"]);
});

it("takes off marks before the rights, once more after them, and lets nobody in any longer", async () => {
  const ports = aCluster();
  await installAccess(ports, wish);

  const left = await removeAccess(ports, wish);

  expect(ports.entries.did.slice(1)).toEqual(["unmark a/new", "remove", "unmark a/new"]);
  expect(ports.entries.admitted.size).toBe(0);
  expect(left).toEqual([]);
});

it("takes the rights back though some marks do not come off at first, and tries those again", async () => {
  const ports = aCluster();
  await installAccess(ports, wish);
  ports.entries.marks.set("node-a", "a/new");
  const { removeMarks } = ports.entries;
  ports.entries.removeMarks = async () => {
    ports.entries.removeMarks = removeMarks;
    throw new Error("a webhook does not answer");
  };

  expect(await removeAccess(ports, wish)).toEqual([]);

  expect(ports.entries.did.slice(1)).toEqual(["remove", "unmark a/new"]);
  expect(ports.entries.marks.size).toBe(0);
});

it("is done with a cluster that is gone", async () => {
  const ports = aCluster();
  ports.entries.lets = undefined;

  expect(await removeAccess(ports, wish)).toEqual([]);
  expect(ports.entries.did).toEqual([]);
});

it("tells what stays in a cluster out of reach, and does not fail", async () => {
  const ports = aCluster();
  await installAccess(ports, wish);
  ports.entries.outOfReach = new Error("timed out");

  const left = await removeAccess(ports, wish);

  expect(left).toEqual(["marks on nodes, ClusterRole, binding and policy"]);
  expect(ports.entries.admitted.size).toBe(0);
  expect(ports.log.told("something of ours stays in the cluster")).toHaveLength(1);
});

it("does the same when it is told twice", async () => {
  const ports = aCluster();

  await installAccess(ports, wish);
  await installAccess(ports, wish);
  await removeAccess(ports, wish);
  await removeAccess(ports, wish);

  expect(ports.entries.admitted.size).toBe(0);
  expect(ports.entries.written).toEqual([]);
});
