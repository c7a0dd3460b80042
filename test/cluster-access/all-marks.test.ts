import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { textsOf } from "../../simulator/fake-kubernetes/objects.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { usersLabels } from "../contracts/nodes-world.ts";
import { NodesOnFakeServer } from "../kubernetes/nodes-on-fake-server.ts";

const clock = { now: () => new Date() };
const { annotation } = Karpenter.v1;

describe("all marks of a cluster", () => {
  let world: NodesOnFakeServer;
  let access: KubernetesAccess;
  beforeEach(async () => {
    world = await NodesOnFakeServer.open();
    access = new KubernetesAccess({ api: world.client, clock, log: world.log, pageSize: 2 });
  });
  afterEach(() => world.close());

  const add = (name: string, label: string, annotations: Record<string, string>) =>
    world.addMarked(name, label, annotations);
  const annotate = (name: string, annotations: Record<string, string>) =>
    world.standIn.editNode(name, { annotations });
  const annotationsOf = (name: string) =>
    textsOf(world.standIn.nodes().find(({ metadata }) => metadata.name === name)?.metadata.annotations);

  it("come off, whatever hold they are of, and nothing of the users' does", async () => {
    add("a", holdId(1), { [annotation]: "true" });
    add("b", holdId(2), { [annotation]: "true" });
    usersLabels.forEach((label, n) => void add(`users-${n}`, label, { [annotation]: "true" }));
    add("e", holdId(2), {});
    annotate("e", { [annotation]: "8h" });
    world.standIn.addNode({ name: "f", annotations: { [annotation]: "true" } });

    expect(await access.removeMarks(annotation)).toBe(2);

    expect(["a", "b"].map(annotationsOf)).toEqual([{}, {}]);
    for (const { accept } of world.asked) expect(accept).toContain("as=PartialObjectMetadata");
    const users = [...usersLabels.keys()].map((n) => `users-${n}`);
    for (const name of ["f", ...users]) expect(annotationsOf(name)).toEqual({ [annotation]: "true" });
    const labels = world.standIn.nodes().flatMap(({ metadata }) => textsOf(metadata.labels)[holdLabel] ?? []);
    expect(labels.toSorted()).toEqual(usersLabels.toSorted());
    expect(annotationsOf("e")).toEqual({ [annotation]: "8h" });
  });

  it("are not called done while some could not be changed", async () => {
    for (const name of ["a", "b", "c"]) add(name, holdId(1), { [annotation]: "true" });
    world.standIn.fail({ kind: "status", status: 500 }, { path: "/api/v1/nodes/b" }, 99);
    const failure = access.removeMarks(annotation);
    await expect(failure).rejects.toBeInstanceOf(TryAgainError);
    await expect(failure).rejects.toThrow("the marks of 1 nodes could not be removed");
    expect(["a", "c"].map(annotationsOf)).toEqual([{}, {}]);
  });

  it("are not called done when the time is over", async () => {
    add("a", holdId(1), { [annotation]: "true" });
    world.onRequest = ({ method }) => {
      if (method === "PATCH") world.ahead += 600_000;
    };
    world.standIn.fail({ kind: "status", status: 500 }, { method: "PATCH" });
    await expect(access.removeMarks(annotation)).rejects.toThrow("the marks of 1 nodes could not be removed");
  });
});
