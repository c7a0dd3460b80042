import { beforeEach, expect, it } from "vitest";
import { holderName, holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { planRelease } from "../../../lambda/core/marks/plan-marks.ts";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { markPatch } from "../../../lambda/kubernetes/node-changes.ts";
import { parseNodeLife } from "../../../lambda/kubernetes/node-objects.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { annotate, mark, path } from "../../cluster-access/policy-requests.ts";
import { applied, createNode, soon } from "./tried-node.ts";

type Clients = Readonly<{ admin: KubernetesClient; holder: KubernetesClient }>;
const { annotation } = Karpenter.v1;

/** What becomes of a held node's annotation that its user wants, too. */
export function keptByUsers(open: () => Clients): void {
  const h1 = holdId(1);
  const apply = (manager: string, metadata: object) => open().admin.call(applied(manager, metadata), soon());
  const contentType = "application/merge-patch+json";
  const change = (body: object, query: Readonly<Record<string, string>>) =>
    open().admin.call({ method: "PATCH", path, query, contentType, body }, soon());
  const held = async () => parseNodeLife(await open().admin.call({ method: "GET", path }, soon()));
  const release = async () => {
    const node = await held();
    const planned = planRelease(node, { holdId: h1, annotation }).change;
    if (planned) {
      const body = markPatch(node, planned);
      const patch = { method: "PATCH", path, contentType: "application/json-patch+json", body } as const;
      await open().holder.call({ ...patch, query: { fieldManager: holderName } }, soon());
    }
    return (await held()).annotations?.[annotation];
  };
  beforeEach(() => createNode(open().admin, mark(h1)));

  it("the same value written over the mark changes nothing, and is removed with the mark", async () => {
    const before = await open().admin.call({ method: "GET", path }, soon());
    expect(await change({ metadata: annotate("true") }, { fieldManager: "kubectl-annotate" })).toEqual(
      before,
    );
    expect(await release()).toBeUndefined();
  });

  it("the same value applied by the server has an owner, who keeps it, and may take it off", async () => {
    await apply("gitops", annotate("true"));
    const ownersOf = async () =>
      (await held()).writers
        .filter(({ annotations }) => annotations.includes(annotation))
        .map(({ manager }) => manager)
        .toSorted();
    expect(await ownersOf()).toEqual(["gitops", holderName]);
    expect(await release()).toBe("true");
    expect(await ownersOf()).toEqual(["gitops"]);
    expect((await held()).labels?.[holdLabel]).toBeUndefined();
    await apply("gitops", {});
    expect((await held()).annotations?.[annotation]).toBeUndefined();
  });
}
