import { describe, expect, it } from "vitest";
import { Karpenter, namesOfServer } from "../../lambda/core/marks/keys.ts";
import { refuseMarksToObserve, refuseOtherAnnotation } from "../../local/run/found-marks.ts";
import { aNode, markOf } from "../support/builders.ts";

const { annotation } = Karpenter.v1;
const other = "example.com/stay";
const release = "karpenter-node-holder run --release-only";
const marked = aNode("a", markOf());

describe("marks from before", () => {
  const refuse = (now: string, ...nodes: Parameters<typeof refuseOtherAnnotation>[0]) =>
    refuseOtherAnnotation(nodes, { annotation: now, release });

  it("stop a run with another annotation, whose releases would leave theirs on the nodes", () => {
    expect(() => refuse(other, marked, aNode("b", markOf()))).toThrow(
      `2 nodes are marked by the annotation ${annotation}, and these settings name ${other}`,
    );
    expect(() => refuse(annotation, marked)).not.toThrow();
  });

  it("stop it also where the API server has merged who set the annotation with others", () => {
    const merged = aNode("a", {
      ...markOf(),
      writers: [{ manager: namesOfServer[0], annotations: [annotation] }],
    });
    expect(() => refuse(Karpenter["v0.31"].annotation, merged)).toThrow(
      `1 nodes are marked by the annotation ${annotation}, and these settings name`,
    );
    expect(() => refuse(annotation, merged)).not.toThrow();
    const unnamed = aNode("b", {
      ...markOf(),
      annotations: { [other]: "true" },
      writers: [{ manager: namesOfServer[0], annotations: [other] }],
    });
    expect(() => refuse(annotation, unnamed)).toThrow(`1 nodes are marked by the annotation ${other}, and`);
  });

  it.each([
    [
      "the user set the other one beside ours",
      annotation,
      {
        annotations: { [annotation]: "true", [other]: "true" },
        writers: [...markOf().writers, { manager: "kubectl-annotate", annotations: [other] }],
      },
    ],
    ["ours is gone", other, { annotations: {} }],
    ["the user has set another value since", other, { annotations: { [annotation]: "false" } }],
  ])("do not stop it where %s", (_, now, about) => {
    expect(() => refuse(now, aNode("a", { ...markOf(), ...about }))).not.toThrow();
  });

  it("stop a run that observes only where it has no right to remove them", async () => {
    const observe = (mayChange: boolean, ...nodes: Parameters<typeof refuseOtherAnnotation>[0]) =>
      refuseMarksToObserve(nodes, { mayChange: async () => mayChange, release });
    await observe(true, marked);
    await observe(false);
    await expect(observe(false, marked)).rejects.toThrow("1 nodes are marked from before");
  });
});
