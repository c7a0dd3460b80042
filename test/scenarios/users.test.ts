import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter, neverHold } from "../../lambda/core/marks/keys.ts";
import { holdId } from "../support/fixed-clock.ts";
import { Story } from "../support/story.ts";

const annotation = Karpenter.v1.annotation;

describe("a user's own annotation", () => {
  it.each(["true", "false", "4h", ""])(
    "is never touched before, during and after a hold: %j",
    async (value) => {
      const story = new Story();
      story.addNode("mine", { annotations: { [annotation]: value } });
      story.addNode("old");
      story.launch({ node: { annotations: { [annotation]: value } } });

      await story.pass(minutes(5));
      const held = story.heldNodes();
      await story.pass(minutes(20));

      expect(held).toEqual(["old"]);
      for (const name of ["mine", "node-1"]) {
        expect(story.nodes.nodes.get(name)).toMatchObject({ labels: {}, history: [value] });
      }
    },
  );

  it("set during a hold in place of ours stays after it", async () => {
    const story = new Story();
    story.addNode("old");
    story.launch();
    await story.pass(minutes(5));

    story.nodes.edit("old", "annotations", annotation, "false");
    await story.pass(minutes(20));

    expect(story.nodes.nodes.get("old")).toMatchObject({
      labels: {},
      annotations: { [annotation]: "false" },
    });
  });

  it("is what ours becomes when the user takes the label off", async () => {
    const story = new Story();
    story.addNode("old");
    story.launch();
    await story.pass(minutes(3));

    story.nodes.edit("old", "labels", holdLabel, undefined);
    await story.pass(minutes(40));

    expect(story.nodes.nodes.get("old")).toMatchObject({ labels: {}, annotations: { [annotation]: "true" } });
  });
});

describe("a node labelled never", () => {
  it("is left out for good", async () => {
    const story = new Story();
    story.addNode("left-out", { labels: { [holdLabel]: neverHold } });
    story.launch({ node: { labels: { [holdLabel]: neverHold } } });

    await story.pass(minutes(30));

    for (const name of ["left-out", "node-1"]) {
      expect(story.nodes.nodes.get(name)).toMatchObject({
        labels: { [holdLabel]: neverHold },
        history: [undefined],
      });
    }
  });
});

describe("the label never", () => {
  it("put in place of a mark hands the annotation to the user", async () => {
    const story = new Story();
    story.addNode("old");
    story.launch();
    await story.pass(minutes(5));
    const node = story.nodes.nodes.get("old");
    if (node) node.labels[holdLabel] = neverHold;

    await story.pass(minutes(40));

    expect(node).toMatchObject({
      labels: { [holdLabel]: neverHold },
      annotations: { [annotation]: "true" },
    });
  });
});

describe("a half mark, whose annotation the user took off", () => {
  it("never fails the release and is not completed by this hold", async () => {
    const story = new Story();
    story.addNode("old");
    story.launch();
    await story.pass(minutes(2));

    story.nodes.edit("old", "annotations", annotation, undefined);
    await story.pass(minutes(10));
    const during = { ...story.nodes.nodes.get("old")?.annotations };
    await story.pass(minutes(9));

    expect(during).toEqual({});
    expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
  });

  it("is completed by the next hold", async () => {
    const story = new Story();
    story.addNode("old");
    story.nodes.edit("old", "labels", holdLabel, holdId(0));
    story.launch();

    await story.pass(minutes(2));

    expect(story.nodes.nodes.get("old")).toMatchObject({
      labels: { [holdLabel]: holdId(1) },
      annotations: { [annotation]: "true" },
    });
  });
});

describe("another generation or annotation", () => {
  it.each([Karpenter["v0.31"].annotation, "example.com/stay"])("works throughout: %s", async (key) => {
    const story = new Story({}, key);
    story.addNode("old");
    story.addNode("mine", { annotations: { [key]: "true" } });
    story.launch();

    await story.pass(minutes(5));
    const held = { ...story.nodes.nodes.get("old")?.annotations };
    await story.pass(minutes(20));

    expect(held).toEqual({ [key]: "true" });
    expect(story.nodes.nodes.get("old")).toMatchObject({ labels: {}, annotations: {} });
    expect(story.nodes.nodes.get("mine")?.annotations).toEqual({ [key]: "true" });
  });
});
