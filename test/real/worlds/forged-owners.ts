import { expect, it } from "vitest";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { folded, forge, owner, owns, tenOwners } from "../../cluster-access/policy-owners.ts";
import { marking, merge, path } from "../../cluster-access/policy-requests.ts";
import { applied, createNode, outcomeOf, patched, soon } from "./tried-node.ts";

type Clients = Readonly<{ admin: KubernetesClient; holder: KubernetesClient }>;

/** What forged owners are for: a manager's next apply removes a map that it owns and no longer names. */
export function forgedOwners(open: () => Clients): void {
  const halves = [
    ["labels", "annotations"],
    ["annotations", "labels"],
  ] as const;
  const cases = halves.flatMap(([lost, kept]) => {
    const own = owns({ [kept]: ["team"] });
    const all = owns({ [lost]: [], [kept]: ["team"] });
    return [
      { lost, kept, manager: "gitops", given: [owner("gitops", "Apply", all)] },
      { lost, kept, manager: "helm", given: [owner("gitops", "Apply", own), owner("helm", "Apply", all)] },
    ];
  });

  it.each(cases)("the next apply of $manager, to be given all $lost, removes none", async (one) => {
    const { admin, holder } = open();
    await createNode(admin, { labels: { zone: "b" }, annotations: { x: "y" } });
    await admin.call(applied("gitops", { [one.kept]: { team: "a" } }), soon());
    // As if so many others had updated the node that the server has folded those who did.
    const others = [folded({}), ...tenOwners].map((by) => ({ ...by, fieldsV1: owns({ [one.kept]: [] }) }));
    const forged = forge(...one.given, ...others);
    for (const change of [forged, marking(forged)]) {
      expect.soft(await outcomeOf(holder, patched(merge(change)))).toBe("refused by the policy");
      await admin.call(applied(one.manager, { [one.kept]: { team: "a" } }), soon());
      const { metadata } = Object(await admin.call({ method: "GET", path }, soon()));
      expect.soft(metadata).toMatchObject({ labels: { zone: "b" }, annotations: { x: "y" } });
    }
  });
}
