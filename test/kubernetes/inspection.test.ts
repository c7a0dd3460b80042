import { describe, expect, it } from "vitest";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { holderName, holdLabel } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  aCluster,
  aNode,
  annotation,
  claimRights,
  denial,
  isForeign,
  nodeRights,
  refusal,
} from "./inspected-cluster.ts";

describe("an inspection of a cluster", () => {
  it("finds no problem when rights and policy are correct", async () => {
    const { inspect, calls } = aCluster();
    expect(await inspect()).toMatchObject({
      kubernetes: "v1.36.1",
      missingRights: [],
      needlessRights: [],
      foreignChange: "refused",
      ownChange: "admitted",
      said: denial.message,
      nodes: 1,
    });
    expect(calls.find(({ method }) => method === "POST")).toEqual({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "get", resource: "nodes" } },
      },
    });
    const dryRun = {
      path: "/api/v1/nodes/a",
      query: { dryRun: "All", fieldManager: holderName },
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    };
    expect(calls.filter((call) => call.method === "PATCH")).toMatchObject([
      {
        ...dryRun,
        contentType: "application/merge-patch+json",
        body: { metadata: { annotations: { "karpenter-node-holder/not-ours": "true" } } },
      },
      {
        ...dryRun,
        contentType: "application/json-patch+json",
        body: expect.arrayContaining([
          { op: "add", path: "/metadata/annotations", value: { [annotation]: "true" } },
        ]),
      },
    ]);
  });

  const patch = "patch nodes";
  const ofPods = ["list pods", "list poddisruptionbudgets of policy"];
  const ofEvents = ["create events of default"];
  it.each<[Parameters<typeof aCluster>[0], string[], missing: string[], needless: string[]]>([
    [{ mode: "observe" }, claimRights, [], []],
    [{ mode: "observe" }, [...claimRights, patch], [], [patch]],
    [{}, [...claimRights, patch, "list pods"], [], ["list pods"]],
    [{ auto: true }, [...claimRights, patch, ...ofPods], [], []],
    [{ auto: true }, [...claimRights, patch], ["list pods", "list poddisruptionbudgets"], []],
    [{ nodeEvents: true }, [...claimRights, patch], ["create events"], []],
    [{ nodeEvents: true }, [...claimRights, patch, ...ofEvents], [], []],
    [{}, [...claimRights, patch, ...ofEvents], [], ["create events"]],
    [{ karpenter: "v0.31" }, [patch], [], []],
  ])(
    "with %j and the further rights %j misses %j, and needs none of %j",
    async (about, further, missing, needless) => {
      const rights = [...nodeRights, ...further];
      const found = { missingRights: missing, needlessRights: needless };
      expect(await aCluster({ rights, ...about }).inspect()).toMatchObject(found);
    },
  );

  it("knows no version where it is reported as no text", async () => {
    expect(await aCluster({ gitVersion: { toString: 1 } }).inspect()).toMatchObject({
      kubernetes: "unknown",
    });
  });

  it("names each right that is missing, and each that is too much, and tries nothing without the right to patch", async () => {
    const { inspect } = aCluster({ rights: [...nodeRights, "delete nodes", "list events"] });
    expect(await inspect()).toMatchObject({
      missingRights: ["patch nodes", "list nodeclaims"],
      needlessRights: ["delete nodes", "list events"],
      ...{ foreignChange: "not tried", ownChange: "not tried" },
    });
  });

  it("tries nothing when it may not list nodes", async () => {
    const { inspect, calls } = aCluster({ rights: [] });
    expect(await inspect()).toEqual({
      ...{ kubernetes: "v1.36.1", missingRights: expect.arrayContaining(nodeRights), needlessRights: [] },
      ...{ nodes: 0, stuck: [], userHeld: [], ineffective: [] },
      ...{ foreignChange: "not tried", ownChange: "not tried" },
    });
    expect(calls.some(({ method, path }) => method === "PATCH" || path === "/api/v1/nodes")).toBe(false);
  });

  it.each<[string, (call: KubernetesCall) => unknown, object]>([
    ["changes beyond a mark are not refused", () => aNode("a"), { foreignChange: "admitted" }],
    [
      "a policy refuses our mark",
      () => Promise.reject(denial),
      { foreignChange: "refused", ownChange: "refused", said: denial.message },
    ],
    [
      "our mark is refused for another reason than the other change",
      (call) => Promise.reject(refusal(isForeign(call) ? "not yours" : "a quota is used up")),
      { ownChange: "refused", said: expect.stringMatching(/a quota is used up$/) },
    ],
    [
      "a webhook refuses a change",
      () => Promise.reject(explained(new KubernetesError("PATCH", 403, {}))),
      { foreignChange: "refused" },
    ],
    [
      "a webhook refuses a change without a status of its own",
      () => Promise.reject(new KubernetesError("PATCH", 400, { message: "a webhook denied the request" })),
      { ownChange: "refused", said: expect.stringMatching(/a webhook denied the request$/) },
    ],
  ])("detects that %s", async (_, patch, expected) => {
    expect(await aCluster({ patch }).inspect()).toMatchObject(expected);
  });

  it("fails where the dry run fails, or the cluster refuses the login", async () => {
    const broken = new KubernetesError("PATCH", 500, {});
    await expect(aCluster({ patch: () => Promise.reject(broken) }).inspect()).rejects.toBe(broken);
    const refused = new BrokenSetupError("The cluster refused the login (401)");
    const answer = () => ({ instead: Promise.reject(refused) });
    await expect(aCluster({ answer }).inspect()).rejects.toBe(refused);
  });

  it.each([404, 409, 422])("draws no conclusion from an answer with %i, and reports it", async (status) => {
    const patch = (call: KubernetesCall) => {
      if (isForeign(call)) return aNode("a");
      throw new KubernetesError("PATCH", status, { message: "admission: a policy denied request" });
    };
    expect(await aCluster({ patch }).inspect()).toMatchObject({
      ownChange: "not tried",
      said: expect.stringMatching(/denied request$/),
    });
  });

  it("tries nothing on a node that is its user's", async () => {
    const nodes = [
      aNode("a", { annotations: { [annotation]: "true" } }),
      aNode("b", { labels: { [holdLabel]: "never" } }),
      aNode("c", { labels: { [holdLabel]: "Never" } }),
      aNode("d", { deletionTimestamp: noon.toISOString() }),
    ];
    expect(await aCluster({ nodes }).inspect()).toMatchObject({
      foreignChange: "not tried",
      ownChange: "not tried",
    });
  });

  it("tries the changes on the first node that can carry our mark, also where it is marked", async () => {
    const marked = { labels: { [holdLabel]: holdId(1) }, annotations: { [annotation]: "true" } };
    const nodes = [aNode("a", { annotations: marked.annotations }), aNode("b", marked), aNode("c")];
    const { inspect, calls } = aCluster({ nodes });
    await inspect();
    const patched = calls.filter(({ method }) => method === "PATCH").map(({ path }) => path);
    expect(patched).toEqual(Array(2).fill("/api/v1/nodes/b"));
  });

  const review = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  it.each<[string, unknown, string]>([
    ["GET /version", 7, "the version must be an object, not 7"],
    [review, 7, "the review must be an object, not 7"],
    [review, {}, "the review's status must be an object, not missing"],
  ])("fails where %s is answered with %j", async (asked, answer, message) => {
    const { inspect } = aCluster({
      answer: ({ method, path }) => (`${method} ${path}` === asked ? { instead: answer } : undefined),
    });
    await expect(inspect()).rejects.toThrow(message);
  });
});
