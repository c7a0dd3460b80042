import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  KubernetesAccess,
  type KubernetesAccessOptions,
} from "../../../lambda/cluster-access/cluster-rights.ts";
import { holderGroup, policySpec } from "../../../lambda/cluster-access/policy.ts";
import { after, hours } from "../../../lambda/core/duration.ts";
import { holderName, holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { type MarkKeys, planRelease } from "../../../lambda/core/marks/plan-marks.ts";
import type { KubernetesCall, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { isUnknownKind } from "../../../lambda/kubernetes/error.ts";
import { KubernetesInspection } from "../../../lambda/kubernetes/inspection.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { markPatch } from "../../../lambda/kubernetes/node-changes.ts";
import { parseNodeLife } from "../../../lambda/kubernetes/node-objects.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import {
  admitted,
  admittedWhileChanging,
  refused,
  refusedWhileChanging,
} from "../../cluster-access/policy-cases.ts";
import {
  annotate,
  both,
  type Case,
  forms,
  mark,
  merge,
  type Node,
  older,
  path,
} from "../../cluster-access/policy-requests.ts";
import { type Form, updateBy } from "../../cluster-access/policy-updates.ts";
import { clientOf } from "../../contracts/cluster-nodes.ts";
import { buildCel, decideByOldestCel } from "../engines/cel.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { until } from "../engines/processes.ts";
import { forgedOwners } from "../worlds/forged-owners.ts";
import { nodeEventsOn } from "../worlds/node-events.ts";
import { applied, createNode, outcomeOf, patched, removeNode, soon } from "../worlds/tried-node.ts";

const { annotation } = Karpenter.v1;
const h1 = holdId(1);
const karpenters: Node = { labels: { [Karpenter.v1.poolLabel]: "default" } };
const { "merge patch": mergePatch } = forms as Readonly<Record<"merge patch", Form>>;
/** Whether this is the message of a rule, and no error of its evaluation. */
const isOfPolicy = (keys: MarkKeys, decision: string) =>
  policySpec(keys, holderGroup).validations?.some(({ message }) => message === decision) === true;
/** Whether a time that the server recorded, in whole seconds, lies between `began` and now. */
const isSince = (began: number) => (at: Date) => at.getTime() > began - 1_000 && at.getTime() <= Date.now();

describe("the oldest Kubernetes that has policies", () => {
  beforeAll(buildCel);

  it.each<[string, MarkKeys, readonly Case[], readonly Case[]]>([
    ["with one key", [annotation], admitted, refused],
    ["while a former key is recorded", [annotation, older], admittedWhileChanging, refusedWhileChanging],
  ])("decides alike, %s", async (_, keys, toAdmit, toRefuse) => {
    const cases = [...toAdmit, ...toRefuse].map((one) => ({ one, isRefused: toRefuse.includes(one) }));
    const updates = cases.map(({ one }) => ({ ...updateBy(one, mergePatch), groups: [holderName] }));
    const decisions = await decideByOldestCel(policySpec(keys, holderGroup), updates);
    const wrong = cases.flatMap(({ one: [rule], isRefused }, i) => {
      const decision = decisions[i] ?? "none";
      const isRight = isRefused ? isOfPolicy(keys, decision) : decision === "admitted";
      return isRight ? [] : [`${rule}: ${decision}`];
    });
    expect(wrong).toEqual([]);
    expect(decisions).toHaveLength(cases.length);
  });
});

describe("what a real API server allows the holder to do", () => {
  let plane: ControlPlane;
  let admin: KubernetesClient;
  let holder: KubernetesClient;
  let access: KubernetesAccess;

  const create = (node: Node) => createNode(admin, node);
  const apply = (manager: string, metadata: object) => admin.call(applied(manager, metadata), soon());
  const remove = () => removeNode(admin);
  const attempt = (call: KubernetesCall) => outcomeOf(holder, call);
  const accessWith = (options: Pick<KubernetesAccessOptions, "mode" | "auto" | "nodeEvents">) =>
    new KubernetesAccess({
      api: admin,
      clock: { now: () => new Date() },
      log: new CollectedLog(),
      pageSize: 2,
      ...options,
    });
  const settle = async () => {
    await access.write(annotation);
    await settled();
  };
  /** Waits until the rights and the policy are in force. */
  const settled = () =>
    until("the rights and the policy to be in force", async () => {
      const answers: string[] = [];
      for (const [before, change] of [
        [{}, both(h1, "true")],
        [{}, { labels: { x: "y" } }],
      ] as const) {
        await create(before);
        answers.push(await attempt(patched(merge(change))));
        await remove();
      }
      return answers.join() === "admitted,refused by the policy";
    });

  beforeAll(async () => {
    plane = await ControlPlane.start();
    admin = clientOf(await kubeconfigLogin(plane.config("admin")).access());
    holder = clientOf(await kubeconfigLogin(plane.config("holder")).access());
    access = accessWith({});
    await settle();
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

  describe("with nodeEvents", () => nodeEventsOn(() => ({ admin, holder, plane, accessWith })));

  it("distinguishes a kind that the server does not know from an object that is missing", async () => {
    const get = (kind: string) =>
      admin
        .call({ method: "GET", path: `/apis/admissionregistration.k8s.io/v1/${kind}/none` }, soon())
        .catch((error: unknown) => error);
    expect(isUnknownKind(await get("validatingadmissionpolicies"))).toBe(false);
    expect(isUnknownKind(await get("nosuchpolicies"))).toBe(true);
  });

  describe("when a user also wants to keep a held node", () => {
    const contentType = "application/merge-patch+json";
    const change = (body: object, query: Readonly<Record<string, string>>) =>
      admin.call({ method: "PATCH", path, query, contentType, body }, soon());
    const held = async () => parseNodeLife(await admin.call({ method: "GET", path }, soon()));
    const release = async () => {
      const node = await held();
      const planned = planRelease(node, { holdId: h1, keys: [annotation] }).change;
      if (planned) {
        const body = markPatch(node, planned);
        const patch = { method: "PATCH", path, contentType: "application/json-patch+json", body } as const;
        await holder.call({ ...patch, query: { fieldManager: holderName } }, soon());
      }
      return (await held()).annotations?.[annotation];
    };
    beforeEach(() => create(mark(h1)));

    it("the same value written over the mark changes nothing, and is removed with the mark", async () => {
      const before = await admin.call({ method: "GET", path }, soon());
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

    it("the value that they take off and set again is left to them", async () => {
      for (const value of [null, "true"])
        await change({ metadata: annotate(value) }, { fieldManager: "kubectl-annotate" });
      expect(await release()).toBe("true");
      expect((await held()).labels?.[holdLabel]).toBeUndefined();
    });
  });

  describe("when owners of fields are forged", () => forgedOwners(() => ({ admin, holder })));

  describe("an inspection with the holder's rights", () => {
    const inspect = (key: string = annotation, clock = { now: () => new Date() }) =>
      new KubernetesInspection({
        api: holder,
        karpenter: "v1",
        annotation: key,
        nodePools: { only: [], except: [] },
        mode: "hold",
        auto: false,
        nodeEvents: false,
        clock,
      }).inspect(soon());

    it("finds rights and policy in effect, and writes nothing", async () => {
      await create(karpenters);
      const found = await inspect();
      expect(found).toMatchObject({ missingRights: [], needlessRights: [], nodes: 1 });
      expect(found).toMatchObject({ foreignChange: "refused", ownChange: "admitted" });
      expect(await annotationsOf(admin, "a")).toBeUndefined();
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
      await create(karpenters);
      await admin.call(patched(finalizers), soon());
      await plane.kubectl(action);

      expect(await inspect()).toMatchObject({ stuck: [], userHeld: [] });
      const tomorrow = await inspect(annotation, { now: () => after(new Date(), hours(25)) });
      expect(tomorrow).toMatchObject(expected);
      for (const { since } of [...tomorrow.stuck, ...tomorrow.userHeld])
        expect(since).toSatisfy(isSince(began));
      await admin.call(patched({ metadata: { finalizers: null } }), soon());
    });
  });
});

async function annotationsOf(
  api: KubernetesClient,
  name: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  return parseNodeLife(await api.call({ method: "GET", path: `/api/v1/nodes/${name}` }, soon())).annotations;
}
