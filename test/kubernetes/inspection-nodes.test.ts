import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aCluster, aNode, annotation } from "./inspected-cluster.ts";

describe("an inspection of nodes", () => {
  it("finds nodes stuck in deletion, but not those that are still draining", async () => {
    const going = (name: string, since: number, finalizers = ["karpenter.sh/termination"]) =>
      aNode(name, { deletionTimestamp: after(noon, -since).toISOString(), finalizers });
    const nodes = [
      going("stuck", minutes(30)),
      going("draining", minutes(30) - 1),
      aNode("not-going", { finalizers: ["karpenter.sh/termination"] }),
      going("other", hours(2), ["x/y"]),
    ];
    const { stuck } = await aCluster({ nodes }).inspect();
    expect(stuck).toEqual([{ node: "stuck", since: after(noon, -minutes(30)) }]);
  });

  it("finds nodes that a user has held for longer than a day, and who it was", async () => {
    const wrote = (since: number) => [
      {
        manager: "kubectl-annotate",
        time: after(noon, -since).toISOString(),
        fieldsV1: { "f:metadata": { "f:annotations": { [`f:${annotation}`]: {} } } },
      },
    ];
    const annotations = { [annotation]: "true" };
    const nodes = [
      aNode("long", { annotations, managedFields: wrote(hours(24)) }),
      aNode("since-today", { annotations, managedFields: wrote(hours(24) - 1) }),
      aNode("ours", { annotations, labels: { [holdLabel]: holdId(1) } }),
      aNode("not-held"),
      aNode("by-unknown-writer", { annotations }),
      aNode("handed-over", { annotations, labels: { [holdLabel]: "never" } }),
    ];
    const { userHeld } = await aCluster({ nodes }).inspect();
    expect(userHeld).toEqual([
      { node: "long", since: after(noon, -hours(24)), by: "kubectl-annotate" },
      { node: "by-unknown-writer", since: after(noon, -hours(100)) },
      { node: "handed-over", since: after(noon, -hours(100)) },
    ]);
  });

  it("finds nodes whose annotation protects nothing, and none that is left unprotected on purpose", async () => {
    const annotated = (name: string, value: string) => aNode(name, { annotations: { [annotation]: value } });
    const nodes = [
      annotated("a", "30m"),
      annotated("b", "x".repeat(101)),
      annotated("c", "true"),
      annotated("d", "false"),
    ];
    const { ineffective } = await aCluster({ nodes }).inspect();
    expect(ineffective).toEqual([
      { node: "a", value: "30m" },
      { node: "b", value: "x".repeat(100) },
    ]);
  });

  it("names of each problem the first twenty nodes", async () => {
    const deletionTimestamp = after(noon, -hours(2)).toISOString();
    const going = { deletionTimestamp, finalizers: ["karpenter.sh/termination"] };
    const nodes = ["true", "30m"].flatMap((value) =>
      Array.from({ length: 21 }, (_, n) =>
        aNode(`${value}-${n}`, { ...going, annotations: { [annotation]: value } }),
      ),
    );
    const { stuck, userHeld, ineffective } = await aCluster({ nodes }).inspect();
    for (const found of [stuck, userHeld, ineffective]) expect(found).toHaveLength(20);
  });
});
