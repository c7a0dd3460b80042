import { describe, expect, it } from "vitest";
import { TryAgainError } from "../../lambda/core/errors.ts";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { checkRights } from "../../local/run/rights.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

const verbOf = ({ body }: KubernetesCall) =>
  (body as { spec: { resourceAttributes: { verb: string; resource: string } } }).spec.resourceAttributes;
const check = (answer: (verb: string) => unknown) =>
  checkRights({ call: async (call) => answer(verbOf(call).verb) }, context);
const context = { ...until(noon), server: "https://prod" };
const allowed = (is: boolean) => ({ status: { allowed: is } });

describe("what run may do in its cluster", () => {
  it("is enough when it may read, watch and patch nodes", async () => {
    const asked: unknown[] = [];
    await checkRights({ call: async (call) => asked.push(verbOf(call)) && allowed(true) }, context);
    expect(asked).toEqual(["get", "list", "watch", "patch"].map((verb) => ({ verb, resource: "nodes" })));
  });

  it("names every right that is missing, and the command that gives it", async () => {
    const refusal = check((verb) => allowed(verb === "get" || verb === "list"));
    await expect(refusal).rejects.toMatchObject({
      message: "the cluster does not let this user watch, patch nodes",
      remedy: expect.stringContaining("manifest --holder run | kubectl apply"),
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
    await expect(unreachable).rejects.toThrow("the cluster at https://prod cannot be reached: no answer");
  });
});
