import { describe, expect, it } from "vitest";
import { TryAgainError } from "../../lambda/core/errors.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { type RawSettings, readSettings } from "../../lambda/settings.ts";
import { checkRights } from "../../local/run/rights.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

const check = (answer: (verb: string) => unknown, rules: RawSettings = {}) =>
  checkRights(
    { call: async ({ body }) => answer(Object(body).spec.resourceAttributes.verb) },
    { ...context, rules: readSettings({ cluster: "prod", ...rules }) },
  );
const context = {
  ...{ ...until(noon), server: "https://prod" },
  rules: readSettings({ cluster: "prod" }),
};
const allowed = (is: boolean) => ({ status: { allowed: is } });

describe("what run may do in its cluster", () => {
  it("is enough when it may read, watch and patch nodes", async () => {
    const asked: KubernetesCall[] = [];
    await checkRights({ call: async (call) => asked.push(call) && allowed(true) }, context);
    const bodies = ["get", "list", "watch", "patch"].map((verb) => ({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb, resource: "nodes" } },
    }));
    expect(asked.map(({ body }) => body)).toEqual(bodies);
  });

  it("is enough to observe when it may read and watch nodes", async () => {
    const asked: string[] = [];
    await check((verb) => asked.push(verb) && allowed(verb !== "patch"), { mode: "observe" });
    expect(asked).toEqual(["get", "list", "watch"]);
  });

  it("names every right that is missing, and the command that gives it", async () => {
    const refusal = check((verb) => allowed(verb === "get" || verb === "list"));
    await expect(refusal).rejects.toMatchObject({
      message: "the cluster does not let this user watch, patch nodes",
      remedy: expect.stringContaining("manifest --holder run | kubectl apply"),
    });
    const settings = { holdAnnotation: "example.com/stay", hold: "5m", nodeEvents: "true" };
    await expect(check(() => allowed(false), settings)).rejects.toMatchObject({
      remedy: expect.stringContaining(
        "manifest --holder run --hold-annotation example.com/stay --hold 5m --node-events true | kubectl apply",
      ),
    });
  });

  it("is left open where the cluster does not answer such questions", async () => {
    await check(() => {
      throw new KubernetesError("POST", 404, {});
    });
  });

  it("is not taken for granted when the cluster cannot be reached", async () => {
    const unreachable = check(() => {
      throw new TryAgainError("no answer");
    });
    await expect(unreachable).rejects.toMatchObject({
      message: "the cluster at https://prod cannot be reached: no answer",
      remedy: "Check the kubeconfig's server, and the network between.",
    });
  });

  it("is not blamed on the network where the cluster refuses, and does not show whether it is ready", async () => {
    const cause = new KubernetesError("POST", 403, {});
    const refused = new TryAgainError("it does not report itself ready", { cause });
    const refusal = check(() => {
      throw refused;
    });
    await expect(refusal).rejects.toBe(refused);
  });
});
