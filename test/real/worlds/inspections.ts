import { expect, it } from "vitest";
import { after, hours } from "../../../lambda/core/duration.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { KubernetesInspection } from "../../../lambda/kubernetes/inspection.ts";
import { parseNodeLife } from "../../../lambda/kubernetes/node-objects.ts";
import { path } from "../../cluster-access/policy-requests.ts";
import type { ControlPlane } from "../engines/control-plane.ts";
import { createNode, patched, soon } from "./tried-node.ts";

type Plane = Readonly<{ admin: KubernetesClient; holder: KubernetesClient; plane: ControlPlane }>;
const { annotation } = Karpenter.v1;
const karpenters = { labels: { [Karpenter.v1.poolLabel]: "default" } };
/** Whether a time that the server recorded, in whole seconds, lies between `began` and now. */
const isSince = (began: number) => (at: Date) => at.getTime() > began - 1_000 && at.getTime() <= Date.now();

/** What an inspection finds on a real API server. */
export function inspections(open: () => Plane): void {
  const inspect = (key: string = annotation, clock = { now: () => new Date() }) =>
    new KubernetesInspection({
      api: open().holder,
      karpenter: "v1",
      annotation: key,
      nodePools: { only: [], except: [] },
      mode: "hold",
      auto: false,
      nodeEvents: false,
      clock,
    }).inspect(soon());

  it("finds rights and policy in effect, and writes nothing", async () => {
    await createNode(open().admin, karpenters);
    const found = await inspect();
    expect(found).toMatchObject({ missingRights: [], needlessRights: [], nodes: 1 });
    expect(found).toMatchObject({ foreignChange: "refused", ownChange: "admitted" });
    const node = await open().admin.call({ method: "GET", path }, soon());
    expect(parseNodeLife(node).annotations).toBeUndefined();
    // The policy is for another annotation.
    expect(await inspect("example.com/stay")).toMatchObject({
      foreignChange: "refused",
      ownChange: "refused",
    });
  });

  it.each<[string, readonly string[], object]>([
    [
      "that waits for a Karpenter which no longer runs",
      ["delete", "node", "a", "--wait=false"],
      { stuck: [{ node: "a", since: expect.any(Date) }] },
    ],
    [
      "that its user annotated long ago",
      ["annotate", "node", "a", `${annotation}=true`],
      { userHeld: [{ node: "a", since: expect.any(Date), by: expect.stringMatching(/^kubectl/) }] },
    ],
  ])("finds a node %s", async (_, action, expected) => {
    // Nothing but this test removes Karpenter's finalizer here.
    const finalizers = { metadata: { finalizers: ["karpenter.sh/termination"] } };
    const began = Date.now();
    await createNode(open().admin, karpenters);
    await open().admin.call(patched(finalizers), soon());
    await open().plane.kubectl(action);

    expect(await inspect()).toMatchObject({ stuck: [], userHeld: [] });
    const tomorrow = await inspect(annotation, { now: () => after(new Date(), hours(25)) });
    expect(tomorrow).toMatchObject(expected);
    for (const { since } of [...tomorrow.stuck, ...tomorrow.userHeld])
      expect(since).toSatisfy(isSince(began));
    await open().admin.call(patched({ metadata: { finalizers: null } }), soon());
  });
}
