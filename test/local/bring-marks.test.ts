import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { mostAttempts } from "../../lambda/kubernetes/backoff.ts";
import { bringMarks } from "../../local/run/bring-marks.ts";
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
    await bring(first);
    for (const name of ["a", "b", "c", "owners"]) world.addMarked(name, holdId(1), { [first]: "true" });
    world.standIn.editNode("owners", { annotations: { [second]: "true" } });
  });
  afterEach(async () => {
    await world.close();
  });

  const bring = (annotation: string) => bringMarks(access, folder, annotation, world.log);
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

  it("moves its marks, and does not change the user's annotations", async () => {
    await bring(second);

    expect(annotated()).toEqual({ a: [second], b: [second], c: [second], owners: [second] });
    await access.removeMarks({ present: second, former: [] });
    expect(annotated()).toEqual({ owners: [second] });
  });

  it("continues at its next start when it was stopped in the middle, and holds no node for ever", async () => {
    failAt("b");
    await expect(bring(second)).rejects.toThrow("could not be moved");

    await bring(second);

    await access.removeMarks({ present: second, former: [] });
    expect(annotated()).toEqual({ owners: [second] });
  });

  it("moves them back when it was stopped in the middle and restarts with the first annotation", async () => {
    failAt("b");
    await expect(bring(second)).rejects.toThrow("could not be moved");

    await bring(first);

    await access.removeMarks({ present: first, former: [] });
    expect(annotated()).toEqual({ owners: [second] });
  });
});
