import { expect, it } from "vitest";
import { compareManifest } from "../../cli/doctor/own-kubernetes.ts";
import { accessManifest, admissionPolicy } from "../../lambda/cluster-access/manifest.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { answering } from "../kubernetes/answers-in-turn.ts";

const { annotation } = Karpenter.v1;
const older = Karpenter["v0.31"].annotation;
const refuse = (status: number, name = "") => {
  throw explained(new KubernetesError("a call", status, { details: { name, causes: [] } }));
};
const missing = () => refuse(404, "karpenter-node-holder");
const compare = ({ api }: Readonly<{ api: KubernetesCaller }>, holdAnnotation: string) =>
  compareManifest(api, { holdAnnotation }, { deadline: noon });
const policy = admissionPolicy(annotation);
const { matchConstraints: constraints, matchConditions: conditions = [] } = policy.spec ?? {};

it("our rights are right when all we want is there, whatever the server added", async () => {
  const stored = new Map(accessManifest(annotation).map(({ path, object }) => [path, object]));
  const server = answering(({ path }) => {
    const object = stored.get(path);
    const metadata = { ...Object(object).metadata, uid: "1", managedFields: [] };
    return { ...object, metadata, status: { observedGeneration: 1 } };
  });
  expect((await compare(server, annotation)).map(({ state }) => state)).toEqual(Array(4).fill("right"));
  const ofOthers = (await compare(server, older)).map(({ state }) => state);
  expect(ofOthers).toEqual(["right", "different", "right", "right"]);
  for (const { method } of server.calls) expect(method).toBe("GET");
});

it.each<[string, object, string]>([
  [
    "a rule that excludes nodes",
    { matchConstraints: { ...constraints, excludeResourceRules: [{}] } },
    "different",
  ],
  ["another failure policy", { failurePolicy: "Ignore" }, "different"],
  ["a condition more", { matchConditions: [...conditions, { name: "x", expression: "false" }] }, "different"],
  [
    "a selector",
    { matchConstraints: { ...constraints, objectSelector: { matchLabels: { x: "y" } } } },
    "different",
  ],
  ["a parameter", { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }, "different"],
  ["nothing", {}, "right"],
])("our rights are compared as a whole: a policy with %s", async (_, spec, state) => {
  const changed = { ...policy, spec: { ...policy.spec, ...spec } };
  const server = answering(({ path }) => (path.includes("policies/") ? changed : {}));
  const found = await compare(server, annotation);
  expect(found.find(({ kind }) => kind === "ValidatingAdmissionPolicy")?.state).toBe(state);
});

it("our rights are missing, or of a kind that the cluster does not know, by what the answer names", async () => {
  const states = async (answer: () => unknown) =>
    (await compare(answering(answer), annotation)).map(({ state }) => state);
  expect(await states(missing)).toEqual(Array(4).fill("missing"));
  expect((await states(() => refuse(404))).slice(1, 3)).toEqual(Array(2).fill("unknown to this cluster"));
});

it("our rights cannot be compared where the cluster refuses", async () => {
  await expect(
    compare(
      answering(() => refuse(403)),
      annotation,
    ),
  ).rejects.toThrow(BrokenSetupError);
});
