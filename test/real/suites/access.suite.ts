import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  KubernetesAccess,
  type KubernetesAccessOptions,
} from "../../../lambda/cluster-access/cluster-rights.ts";
import { holderGroup, policySpec } from "../../../lambda/cluster-access/policy.ts";
import { holderName, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { isUnknownKind } from "../../../lambda/kubernetes/error.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { admitted, refused } from "../../cluster-access/policy-cases.ts";
import { annotate, both, forms, merge, type Node, path } from "../../cluster-access/policy-requests.ts";
import { type Form, updateBy } from "../../cluster-access/policy-updates.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import { buildChecker } from "../engines/build-once.ts";
import { decideByOldestCel } from "../engines/cel.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";
import { forgedOwners } from "../worlds/forged-owners.ts";
import { inspections } from "../worlds/inspections.ts";
import { keptByUsers } from "../worlds/kept-by-users.ts";
import { createNode, outcomeOf, patched, removeNode, soon, untilInForce } from "../worlds/tried-node.ts";

const { annotation } = Karpenter.v1;
const h1 = holdId(1);
const { "merge patch": mergePatch } = forms as Readonly<Record<"merge patch", Form>>;
const policy = policySpec(annotation, holderGroup);
/** Whether this is the message of a rule, and no error of its evaluation. */
const isOfPolicy = (decision: string) =>
  policy.validations?.some(({ message }) => message === decision) === true;
describe("the oldest Kubernetes that has policies", () => {
  beforeAll(() => buildChecker("cel"));

  it("decides alike", async () => {
    const cases = [...admitted, ...refused];
    const updates = cases.map((one) => ({ ...updateBy(one, mergePatch), groups: [holderName] }));
    const decisions = await decideByOldestCel(policy, updates);
    const wrong = cases.flatMap((one, i) => {
      const decision = decisions[i] ?? "none";
      const isRight = admitted.includes(one) ? decision === "admitted" : isOfPolicy(decision);
      return isRight ? [] : [`${one[0]}: ${decision}`];
    });
    expect(wrong).toEqual([]);
    expect(decisions).toHaveLength(cases.length);
  });
});

describe("what a real API server allows the holder to do", () => {
  let plane: ControlPlane;
  let admin: KubernetesClient;
  let holder: KubernetesClient;

  const create = (node: Node) => createNode(admin, node);
  const remove = () => removeNode(admin);
  const attempt = (call: KubernetesCall) => outcomeOf(holder, call);
  const accessWith = (options: Pick<KubernetesAccessOptions, "holder" | "mode" | "auto">) =>
    new KubernetesAccess({
      api: admin,
      clock: { now: () => new Date() },
      log: new CollectedLog(),
      pageSize: 2,
      ...options,
    });

  beforeAll(async () => {
    plane = await ControlPlane.start();
    admin = clientOf(await kubeconfigLogin(plane.config("admin")).access());
    holder = clientOf(await kubeconfigLogin(plane.config("holder")).access());
    await accessWith({}).write(annotation);
    await untilInForce(admin, holder);
  });
  afterAll(async () => plane?.stop());
  afterEach(remove);

  describe.each(Object.entries(forms))("by %s", (_, form) => {
    it.each(admitted)("admits %s", async (_rule, before, change) => {
      await create(before);
      const call = form(change, before);
      if (call) expect(await attempt({ method: "PATCH", path, ...call })).toBe("admitted");
    });

    it.each(refused)("refuses %s", async (_rule, before, change) => {
      const was = await create(before);
      const call = form(change, before);
      if (!call) return;
      expect(await attempt({ method: "PATCH", path, ...call })).toBe("refused by the policy");
      expect(await admin.call({ method: "GET", path }, soon())).toEqual(was);
    });
  });

  describe("and nothing else in the cluster", () => {
    beforeEach(() => create({}));

    it.each<[string, KubernetesCall]>([
      [
        "replace a node",
        { method: "PUT", path, body: { apiVersion: "v1", kind: "Node", metadata: { name: "a" } } },
      ],
      ["delete a node", { method: "DELETE", path }],
      ["create a node", { method: "POST", path: "/api/v1/nodes", body: { metadata: { name: "b" } } }],
      [
        "apply a node that is not there",
        {
          method: "PATCH",
          path: "/api/v1/nodes/b",
          query: { fieldManager: "test" },
          contentType: "application/apply-patch+yaml",
          body: { apiVersion: "v1", kind: "Node", metadata: { name: "b" } },
        },
      ],
      ["patch a node's status", patched({ status: { phase: "Terminated" } }, `${path}/status`)],
      ["watch nodes", { method: "GET", path: "/api/v1/nodes", query: { watch: "1", timeoutSeconds: "1" } }],
      ["create an Event", { method: "POST", path: "/api/v1/namespaces/default/events", body: {} }],
      ["list secrets", { method: "GET", path: "/api/v1/secrets" }],
      [
        "read the policy",
        { method: "GET", path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies" },
      ],
    ])("may not %s", async (_, call) => {
      expect(await attempt(call)).toBe("refused by RBAC");
    });
  });

  describe.each([
    ["observe", false, "refused by RBAC", "refused by RBAC"],
    ["hold", true, "admitted", "admitted"],
    ["hold", false, "admitted", "refused by RBAC"],
  ] as const)("with mode=%s, and hold=auto: %s", (mode, auto, patches, lists) => {
    const pods = "/api/v1/namespaces/default/pods";
    const mark = patched(merge(both(h1, "true")));
    const list: KubernetesCall = { method: "GET", path: "/api/v1/pods" };
    beforeAll(async () => {
      await accessWith({ mode, auto }).write(annotation);
      await until("the rights to be in force", async () => {
        await create({});
        const answer = await attempt(mark);
        await remove();
        return answer === patches && (await attempt(list)) === lists;
      });
    });

    it("may change a node only to hold it", async () => {
      await create({});
      expect(await attempt(mark)).toBe(patches);
    });

    it("may list pods and their budgets only for hold=auto", async () => {
      const budgets = "/apis/policy/v1/poddisruptionbudgets";
      expect([await attempt(list), await attempt({ ...list, path: budgets })]).toEqual([lists, lists]);
    });

    it.each<[string, KubernetesCall]>([
      ["get one", { method: "GET", path: `${pods}/a` }],
      ["create one", { method: "POST", path: pods, body: { metadata: { name: "a" } } }],
      ["patch one", patched({ metadata: annotate("true") }, `${pods}/a`)],
      ["delete one", { method: "DELETE", path: `${pods}/a` }],
      ["evict one", { method: "POST", path: `${pods}/a/eviction`, body: {} }],
      ["read a log", { method: "GET", path: `${pods}/a/log` }],
    ])("may not %s", async (_, call) => {
      expect(await attempt(call)).toBe("refused by RBAC");
    });
  });

  it("knows the rights of another deployment from its own, and from rights without a name", async () => {
    const [blue, green, nameless] = [
      accessWith({ holder: "blue" }),
      accessWith({ holder: "green" }),
      accessWith({}),
    ];
    expect(await green.otherHolder()).toBeUndefined();
    await blue.write(annotation);
    expect([await blue.otherHolder(), await green.otherHolder()]).toEqual([undefined, "the deployment blue"]);
    await nameless.write(annotation);
    expect(await green.otherHolder()).toBeUndefined();
  });

  it("distinguishes a kind that the server does not know from an object that is missing", async () => {
    const get = (kind: string) =>
      admin
        .call({ method: "GET", path: `/apis/admissionregistration.k8s.io/v1/${kind}/none` }, soon())
        .catch((error: unknown) => error);
    expect(isUnknownKind(await get("validatingadmissionpolicies"))).toBe(false);
    expect(isUnknownKind(await get("nosuchpolicies"))).toBe(true);
  });

  describe("when a user also wants to keep a held node", () => keptByUsers(() => ({ admin, holder })));

  describe("when owners of fields are forged", () => forgedOwners(() => ({ admin, holder })));

  describe("an inspection with the holder's rights", () => inspections(() => ({ admin, holder, plane })));
});
