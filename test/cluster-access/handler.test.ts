import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { readAccessConfig } from "../../lambda/cluster-access/environment.ts";
import { onClusterAccessChanged } from "../../lambda/cluster-access/handler.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { AccessWorld, adminRole, holdId } from "./access-world.ts";

const present = "karpenter.sh/do-not-disrupt";
const foreign = "example.com/keep";

let world: AccessWorld;
beforeEach(() => {
  world = new AccessWorld();
});

const adminRight = { ResourceType: "Custom::KarpenterNodeHolderAdminRight" };
const create = { RequestType: "Create" };
const remove = { RequestType: "Delete", PhysicalResourceId: "cluster-access/prod" };
const updateFrom = (holdAnnotation: unknown) => ({
  RequestType: "Update",
  ResourceProperties: { holdAnnotation: "ignored" },
  OldResourceProperties: { holdAnnotation },
});
const policyOf = () => JSON.stringify([...world.access.all]);
const entriesOf = () => [...world.eks.entries.keys()].toSorted();

describe("a request of CloudFormation", () => {
  it("creates, changes and deletes what we own in the cluster, under one name", async () => {
    const name = { PhysicalResourceId: "cluster-access/prod" };
    expect(await world.handle(create)).toEqual(name);
    expect(entriesOf()).toEqual(world.config.roles);
    expect(policyOf()).toContain(present);

    world.config = { ...world.config, holdAnnotation: foreign };
    expect(await world.handle(updateFrom(present))).toEqual(name);
    expect(policyOf()).toContain(foreign);

    expect(await world.handle(remove)).toEqual(name);
    expect(world.access.all.size).toBe(0);
    expect(entriesOf()).toEqual([]);
  });

  it("that the runbook sends by hand installs rights again that are gone", async () => {
    await world.handle(create);
    world.access.all.clear();
    const runbook = readFileSync("docs/operating.md", "utf8");
    const [, request = ""] = /echo '(.+)' \| aws lambda invoke .+\n.+-cluster-access /.exec(runbook) ?? [];
    await world.handle(JSON.parse(request));
    expect(policyOf()).toContain(present);
    expect(world.admins).toEqual([]);
  });

  it("for the admin right gives a right back that was left, on deletion alone", async () => {
    const leave = () => world.eks.entries.set(adminRole, { groups: [], policies: new Set(["admin"]) });
    leave();

    const name = { PhysicalResourceId: "admin-right/prod" };
    expect(await world.handle({ ...create, ...adminRight })).toEqual(name);
    expect(world.admins).toEqual([adminRole]);

    await world.handle({ ...remove, ...adminRight });
    expect(world.admins).toEqual([]);
    expect(world.calls.filter((call) => call.includes("/apis/"))).toEqual([]);
  });

  it.each(["Custom::KarpenterNodeHolderAccess", adminRight.ResourceType])(
    "keeps the name of %s whatever cluster it was created for, so that nothing deletes what a move installed",
    async (ResourceType) => {
      const former = { ResourceType, PhysicalResourceId: `${ResourceType}/former-cluster` };
      const name = { PhysicalResourceId: former.PhysicalResourceId };
      await world.handle(create);
      // CloudFormation deletes by its former name what has another one after an update.
      expect(await world.handle({ ...former, RequestType: "Update" })).toEqual(name);
      expect(entriesOf()).toEqual(world.config.roles);
      // CDK's provider fails a deletion that is answered by another name.
      expect(await world.handle({ ...former, RequestType: "Delete" })).toEqual(name);
    },
  );

  it.each([
    ["a cluster without access entries", { authenticationMode: "CONFIG_MAP" }],
    ["throttled calls", { throttlesRemovals: true }],
    ["subnets without a way to EKS", { isUnreachable: true }],
  ])("to delete the admin right succeeds in spite of %s, and logs what may remain", async (_, damage) => {
    await world.handle(create);
    Object.assign(world.eks, damage);
    await world.handle({ ...remove, ...adminRight });
    expect(world.log.lines.at(-1)).toMatchObject({
      level: "error",
      sentence: "the admin right could not be given back, if there was one",
      fields: { remedy: expect.stringContaining(`--cluster-name prod --principal-arn ${adminRole}`) },
    });
  });

  it.each([
    ["no request", "delete everything", "the request must be"],
    ["an unknown type", { RequestType: "Paint" }, "RequestType must be Create, Update or Delete"],
    ["without a type", { ResourceProperties: {} }, "RequestType must be Create, Update or Delete"],
  ])("is refused before any call when it is %s", async (_, request, reason) => {
    await expect(world.handle(request as object)).rejects.toThrow(`This request cannot be used: ${reason}`);
    expect(world.calls).toEqual([]);
  });
});

it("counts as a sweep once the rights are there, so that no alarm is on before the first sweep is due", async () => {
  await world.handle(create);
  expect(world.metrics.all("HoldActive")).toEqual([0]);
});

it("keeps the last minute of an invocation for giving the admin right back", async () => {
  const ports = vi.fn((_config: unknown, _until: Date) => world.ports);
  const handler = onClusterAccessChanged(() => world.config, ports);
  await handler(create, { deadline: new Date("2026-03-01T12:15:00Z") });
  expect(ports.mock.lastCall?.[1]).toEqual(new Date("2026-03-01T12:14:00Z"));
});

describe("a forged request", () => {
  const forged = {
    cluster: "next",
    holdAnnotation: foreign,
    roles: ["arn:aws:iam::123456789012:role/attacker"],
    adminRole: "arn:aws:iam::123456789012:role/hold",
  };

  it.each(["Create", "Update", "Delete"])(
    "of type %s chooses neither cluster nor roles",
    async (RequestType) => {
      await world.handle(create);

      await world.handle({ RequestType, ResourceProperties: forged, OldResourceProperties: forged });

      expect(entriesOf()).toEqual(RequestType === "Delete" ? [] : world.config.roles);
      expect(JSON.stringify([...world.access.all])).not.toContain(foreign);
    },
  );

  it("that names a user's annotation as the former one removes no mark, with and without policies", async () => {
    for (const hasPolicies of [true, false]) {
      world.access.hasPolicies = hasPolicies;
      world.cluster.addNode({ name: "a" });
      await world.mark("a", present);
      world.cluster.editNode("a", { annotations: { [foreign]: "true" } });
      await world.handle(create);

      await world.handle(updateFrom(foreign));

      expect(world.nodes).toEqual({ a: { [holdLabel]: holdId, [present]: "true", [foreign]: "true" } });
      world.cluster.removeNode("a");
      await world.handle(remove);
    }
  });
});

describe("the environment", () => {
  const env = {
    CLUSTER: "prod",
    HOLD_ANNOTATION: present,
    MODE: "observe",
    HOLD: "20m",
    NODE_EVENTS: "true",
    ADMIN_ROLE_ARN: adminRole,
    ADMITTED_ROLE_ARNS: "arn:aws:iam::123456789012:role/hold,arn:aws-cn:iam::123456789012:role/sweep",
  };

  it("names cluster, annotation and roles, and the holder where it is not called after the cluster", () => {
    expect(readAccessConfig({ ...env, HOLDER_NAME: "blue" })).toMatchObject({
      cluster: "prod",
      name: "blue",
    });
    expect(readAccessConfig(env)).toEqual({
      ...{
        cluster: "prod",
        name: "prod",
        holdAnnotation: present,
        auto: false,
        nodeEvents: false,
        mode: "observe",
      },
      ...{ adminRole, roles: env.ADMITTED_ROLE_ARNS.split(",") },
    });
  });

  it("asks for the right to write Events where that is set, and the holder changes nodes", () => {
    expect(readAccessConfig({ ...env, MODE: "hold", NODE_EVENTS: undefined })).toMatchObject({
      nodeEvents: false,
    });
    expect(readAccessConfig({ ...env, MODE: "hold" })).toMatchObject({ mode: "hold", nodeEvents: true });
  });

  it.each([
    ["CLUSTER", undefined],
    ["HOLD_ANNOTATION", "it's/bad"],
    ["MODE", "watch"],
    ["NODE_EVENTS", "yes"],
    ["ADMIN_ROLE_ARN", "me"],
    ["ADMITTED_ROLE_ARNS", ""],
    ["ADMITTED_ROLE_ARNS", `${adminRole},me`],
  ])("is refused by the name of what is wrong: %s", async (name, value) => {
    const broken = () => readAccessConfig({ ...env, [name]: value });
    const handler = onClusterAccessChanged(broken, () => world.ports);
    await expect(handler(create, { deadline: world.workUntil })).rejects.toThrow(
      `Cannot start: ${name} must be`,
    );
  });
});
