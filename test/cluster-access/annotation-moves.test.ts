import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import {
  type AccessEntries,
  changeAccess,
  type DesiredAccess,
  removeAccess,
} from "../../lambda/cluster-access/rules.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { mostAttempts } from "../../lambda/kubernetes/backoff.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { textsOf } from "../../simulator/fake-kubernetes/objects.ts";
import { holdId } from "../support/fixed-clock.ts";
import { StandInNodes } from "../support/stand-in-nodes.ts";

const older = Karpenter["v0.31"].annotation;
const newer = Karpenter.v1.annotation;
const wishOf = (holdAnnotation: string): DesiredAccess => ({
  cluster: "prod",
  holdAnnotation,
  principals: [],
});
const forward = [wishOf(older), wishOf(newer)] as const;
const back = [wishOf(newer), wishOf(older)] as const;

/** Keeps what is written beside the nodes, as a cluster would. */
const remembering = (nodes: KubernetesCaller, kept: Map<string, unknown>): KubernetesCaller => ({
  call: async (call, context) => {
    const { method, path, body } = call;
    if (!path.startsWith("/apis/")) return nodes.call(call, context);
    if (method === "DELETE") return kept.delete(path);
    if (method === "PATCH") kept.set(path, body);
    else if (!kept.has(path)) throw new KubernetesError(404, path, `"karpenter-node-holder" not found`);
    return kept.get(path);
  },
});

describe("an update to another annotation", () => {
  let world: StandInNodes;
  let rights: KubernetesAccess;
  let entries: AccessEntries;
  beforeEach(async () => {
    world = await StandInNodes.open();
    const clock = { now: () => new Date() };
    rights = new KubernetesAccess({ api: remembering(world.client, new Map()), clock, log: world.log });
    entries = {
      kind: async () => "access entries",
      whyUnreachable: async () => undefined,
      admit: async () => "was in",
      dismiss: async () => {},
      asAdmin: (work) => work(rights),
    };
    await rights.write([older]);
    for (const name of ["a", "b", "c"]) add(name, { [older]: "true" });
    add("owners", { [older]: "true", [newer]: "true" });
  });
  afterEach(() => world.close());

  const add = (name: string, annotations: Record<string, string>) =>
    world.standIn.addNode({ name, labels: { [holdLabel]: holdId(1) }, annotations });
  const change = ([before, wish]: readonly [DesiredAccess, DesiredAccess]) =>
    changeAccess({ entries, log: world.log }, before, wish);
  /** What stays on the nodes once every hold is over. */
  const leftAfterRelease = async (annotation: string) => {
    await rights.removeMarks(annotation);
    const left = world.standIn.nodes().flatMap(({ metadata: { name, labels, annotations } }) => {
      const { [holdLabel]: label } = textsOf(labels);
      const keys = Object.keys(textsOf(annotations));
      return label || keys.length > 0 ? [[name, label, ...keys]] : [];
    });
    return left;
  };
  const ownersAlone = [["owners", undefined, newer]];

  it("leaves nothing but the owner's own when its holds are over", async () => {
    await change(forward);

    expect(await leftAfterRelease(newer)).toEqual(ownersAlone);
  });

  it("that failed before it moved anything is rolled back, and every mark comes off with its hold", async () => {
    const { asAdmin } = entries;
    entries.asAdmin = async () => {
      throw new Error("the role is not known yet");
    };
    await expect(change(forward)).rejects.toThrow("not known yet");
    entries.asAdmin = asAdmin;

    await change(back);

    expect(await leftAfterRelease(older)).toEqual(ownersAlone);
  });

  it.each([
    ["the first move", 1],
    ["the last look", 2],
  ])("that failed in %s is rolled back, and every mark comes off with its hold", async (_, nth) => {
    const { moveMarks } = rights;
    let moves = 0;
    rights.moveMarks = async (...keys) => {
      const isLast = ++moves === nth;
      if (isLast && nth === 2) add("late", { [older]: "true" });
      const path = `/api/v1/nodes/${nth === 2 ? "late" : "b"}`;
      if (isLast) world.standIn.fail({ kind: "status", status: 500 }, { path }, mostAttempts);
      return moveMarks.apply(rights, keys);
    };
    await expect(change(forward)).rejects.toThrow("the marks of 1 nodes could not be moved");
    rights.moveMarks = moveMarks;

    await change(back);

    expect(await leftAfterRelease(older)).toEqual(ownersAlone);
  });

  it("that failed, and so did its rollback, leaves nothing behind when the stack is deployed again or destroyed", async () => {
    await rights.write([older, newer]);
    await rights.handOver(older, newer);
    add("moved", { [newer]: "true" });
    const all = ["a", "b", "c", "moved"];
    const keysOf = () =>
      world.standIn.nodes().map(({ metadata }) => Object.keys(textsOf(metadata.annotations)));

    await change([wishOf(newer), wishOf(newer)]);
    expect(keysOf()).toEqual(Array(all.length + 1).fill([newer]));

    await rights.write([older, newer]);
    add("late", { [older]: "true" });
    expect(await removeAccess({ entries, log: world.log }, wishOf(newer))).toEqual([]);
    expect(await leftAfterRelease(newer)).toEqual(ownersAlone);
  });

  it("that begins again half-way, because not all of the cluster knows its admin yet, hands no mark of ours over", async () => {
    const { write } = rights;
    let writes = 0;
    rights.write = async (annotations) => {
      if (++writes === 2) throw new Error("forbidden");
      return write.call(rights, annotations);
    };
    entries.asAdmin = (work) => work(rights).catch(() => work(rights));

    await change(forward);

    expect(await leftAfterRelease(newer)).toEqual(ownersAlone);
  });
});
