import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { mostAttempts } from "../../lambda/kubernetes/transport.ts";
import { removeFormerMarks } from "../../local/run/former-marks.ts";
import { textsOf } from "../../simulator/fake-kubernetes/objects.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { NodesOnFakeServer } from "../kubernetes/nodes-on-fake-server.ts";
import { newFolder } from "../support/new-folder.ts";

const first = Karpenter.v1.annotation;
const second = "example.com/stay";

describe("a run that is asked to use another annotation", () => {
  let world: NodesOnFakeServer;
  let access: KubernetesAccess;
  let folder: string;
  beforeEach(async () => {
    folder = newFolder();
    world = await NodesOnFakeServer.open();
    access = new KubernetesAccess({ api: world.client, clock: { now: () => new Date() }, log: world.log });
    await start(first);
    for (const name of ["a", "b", "c", "owners"]) world.addMarked(name, holdId(1), { [first]: "true" });
    world.standIn.editNode("owners", { annotations: { [second]: "true" } });
  });
  afterEach(async () => {
    await world.close();
  });

  const start = (annotation: string) => removeFormerMarks(access, folder, annotation, world.log);
  const failAt = (name: string) =>
    world.standIn.fail({ kind: "status", status: 500 }, { path: `/api/v1/nodes/${name}` }, mostAttempts);
  /** The nodes with annotations, and which these are. */
  const annotated = () =>
    Object.fromEntries(
      world.standIn.nodes().flatMap(({ metadata: { name, annotations } }) => {
        const keys = Object.keys(textsOf(annotations));
        return keys.length > 0 ? [[name, keys]] : [];
      }),
    );

  it("removes its marks, and does not change the user's annotations", async () => {
    await start(second);

    expect(annotated()).toEqual({ owners: [second] });
    const fields = { former: [first], present: second, nodes: 3 };
    expect(world.log.reported("marks removed: the annotation has changed")).toMatchObject([fields]);
  });

  it("leaves the marks where the annotation is the same", async () => {
    await start(first);
    expect(annotated()).toMatchObject({ a: [first], b: [first], c: [first] });
  });

  it.each([
    ["the new annotation", second],
    ["the former one", first],
  ])("that was stopped in the middle removes the rest at its next start with %s", async (_, annotation) => {
    failAt("b");
    await expect(start(second)).rejects.toThrow("the marks of 1 nodes could not be removed");
    expect(annotated()).toEqual({ b: [first], owners: [second] });

    await start(annotation);

    expect(annotated()).toEqual({ owners: [second] });
  });
});
