import { beforeEach, describe, expect, it } from "vitest";
import type { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { both, path } from "../../cluster-access/policy-requests.ts";
import { applied, createNode, outcomeOf, patched, soon } from "./tried-node.ts";

type Clients = Readonly<{ admin: KubernetesClient; holder: KubernetesClient }>;
const entry = (manager: string, operation: "Apply" | "Update", metadata: object) => ({
  ...{ manager, operation, apiVersion: "v1", fieldsType: "FieldsV1" },
  fieldsV1: { "f:metadata": metadata },
});
/** As if so many others had updated the node that the server has folded those who did. */
const hidingBehind = (fields: object) => [
  entry("ancient-changes", "Update", fields),
  ...Array.from({ length: 10 }, (_, i) => entry(`m${i}`, "Update", fields)),
];

/** What forged owners would do: a manager's next apply removes a map that it owns and no longer names. */
export function forgedOwners(open: () => Clients): void {
  const halves = [
    ["labels", "annotations"],
    ["annotations", "labels"],
  ] as const;
  describe.each(halves)("of %s", (lost, kept) => {
    const own = { [`f:${kept}`]: { "f:team": {} } };
    const all = { [`f:${lost}`]: {} };
    beforeEach(async () => {
      const { admin } = open();
      await createNode(admin, { labels: { zone: "b" }, annotations: { x: "y" } });
      await admin.call(applied("gitops", { [kept]: { team: "a" } }), soon());
    });

    it.each<[what: string, manager: string, given: readonly object[]]>([
      ["was given the others", "gitops", [entry("gitops", "Apply", { ...own, ...all })]],
      ["is new and was given all", "helm", [entry("gitops", "Apply", own), entry("helm", "Apply", all)]],
    ])("the next apply of a manager that %s removes none", async (_, manager, given) => {
      const { admin, holder } = open();
      for (const marked of [{}, both(holdId(1), "true")]) {
        const managedFields = [...given, ...hidingBehind({ [`f:${kept}`]: {} })];
        const outcome = await outcomeOf(holder, patched({ metadata: { ...marked, managedFields } }));
        await admin.call(applied(manager, { [kept]: { team: "a" } }), soon());
        const { metadata } = Object(await admin.call({ method: "GET", path }, soon()));
        expect.soft(metadata).toMatchObject({ labels: { zone: "b" }, annotations: { x: "y" } });
        expect.soft(outcome).toBe("refused by the policy");
      }
    });
  });
}
