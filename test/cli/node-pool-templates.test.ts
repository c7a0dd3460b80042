import { expect, it } from "vitest";
import { ineffectiveTemplates } from "../../cli/doctor/own-kubernetes.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { until } from "../support/context.ts";

const aNodePool = (name: string, annotations?: Readonly<Record<string, string>>) => ({
  metadata: { name },
  spec: { template: { ...(annotations && { metadata: { annotations } }) } },
});
const answering = (answer: () => unknown) =>
  ineffectiveTemplates({ call: async () => answer() }, until(noon));

it("finds the NodePools whose template annotates with a value that protects nothing", async () => {
  const { annotation } = Karpenter.v1;
  const items = [
    aNodePool("duration", { [annotation]: "30m" }),
    aNodePool("right", { [annotation]: "true" }),
    aNodePool("none"),
    aNodePool("other", { "example.com/x": "30m" }),
    { metadata: { name: "unreadable" } },
  ];
  expect(await answering(() => ({ metadata: {}, items }))).toEqual([{ nodePool: "duration", value: "30m" }]);
});

it("finds none where Karpenter is older than v1.0, which protects by any value", async () => {
  const refuse = () => {
    throw new KubernetesError("GET", 404, {});
  };
  expect(await answering(refuse)).toEqual([]);
});
