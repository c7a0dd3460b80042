import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { aRecord } from "../support/builders.ts";
import { until } from "../support/context.ts";
import { holdId, noon } from "../support/fixed-clock.ts";
import { Story } from "../support/story.ts";

const at = (minute: number) => after(noon, minutes(minute));

function twoNodes(rules: ConstructorParameters<typeof Story>[0] = {}): Story {
  const story = new Story(rules);
  story.addNode("a");
  story.addNode("b", { pool: "batch" });
  return story;
}

describe("a release by force", () => {
  it("releases now and says how many; neither late events nor the sweep bring the hold back", async () => {
    const story = twoNodes();
    const launch = story.launch({ joinsAfter: minutes(4) });
    story.launch({ joinsAfter: minutes(4), eventAfter: minutes(6) });
    await story.pass(minutes(3));

    const answer = await story.releaseByHand({ force: true, reason: "maintenance" });
    const atOnce = story.marks();
    story.queue.sendLaunch(launch);
    await story.pass(minutes(30));

    expect(answer).toMatchObject({
      released: 2,
      kept: 0,
      failed: 0,
      because: "released by hand: maintenance",
    });
    expect(atOnce).toEqual({});
    expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
  });

  it("with nothing held says so", async () => {
    const answer = await twoNodes().releaseByHand({ force: true });

    expect(answer).toMatchObject({ released: 0, because: "nothing is held" });
  });

  it("lets a launch after it hold again", async () => {
    const story = twoNodes();
    story.launch();
    await story.pass(minutes(3));
    await story.releaseByHand({ force: true });

    await story.pass(seconds(1));
    story.launch();
    await story.pass(minutes(2));

    expect(story.hold()).toMatchObject({ id: holdId(2) });
    expect(story.heldNodes()).toEqual(["a", "b", "node-1", "node-2"]);
  });

  const cases = [
    ...[0, 2, 4, 6].map((calls) => ["says when it was asked for", calls, true] as const),
    ...[3, 5, 7].map((calls) => ["was recorded", calls, false] as const),
  ];
  it.each(cases)(
    "that %s ends no hold that began while it was tried again: crash before call %i",
    async (_, calls, saysWhen) => {
      const story = twoNodes();
      story.sweepEvery = undefined;
      story.launch();
      await story.pass(minutes(19));
      story.accident = { name: "release", calls };

      const askedAt = story.time.toISOString();
      await story.run(story.release({ force: true, ...(saysWhen && { askedAt }) }));
      await story.pass(seconds(59));
      await story.control({ do: "release" });
      story.launch();
      await story.pass(minutes(5));

      expect(story.retries).toEqual([]);
      expect(story.hold()?.id).toBe(holdId(2));
      expect(story.heldNodes()).toEqual(["a", "b", "node-1", "node-2"]);
    },
  );

  it("of another invocation ends also what began since the last one", async () => {
    const story = twoNodes();
    story.launch();
    await story.pass(minutes(3));
    await story.releaseByHand({ force: true });
    await story.pass(seconds(1));
    story.launch();
    await story.pass(minutes(2));

    expect(await story.releaseByHand({ force: true })).toMatchObject({ released: 4 });
    expect(story.marks()).toEqual({});
  });

  it("that comes too late for what is held says so", async () => {
    const story = twoNodes({ scope: "nodepool" });
    story.launch({ pool: "batch" });
    await story.pass(minutes(1));

    const answer = await story.releaseByHand({ force: true, askedAt: "2026-11-21T11:59:00Z" });

    expect(answer).toMatchObject({ released: 0, because: "the hold began after its release was asked for" });
    expect(story.heldNodes()).toEqual(["b", "node-1"]);
  });

  it("also takes off marks that belong to nobody", async () => {
    const story = twoNodes();
    await story.nodes.mark("cluster", holdId(0), until(at(60)));

    expect(await story.releaseByHand({ force: true })).toMatchObject({ released: 2 });
  });

  it.each([{}, { scope: "cluster" }])("ends every NodePool's hold: %j", async (scope) => {
    const story = twoNodes({ scope: "nodepool" });
    story.launch();
    story.launch({ pool: "batch" });
    await story.pass(minutes(2));

    await story.control({ do: "release", ...scope });
    await story.pass(minutes(30));

    expect(story.marks()).toEqual({});
    expect(story.history().map(({ endedAt }) => endedAt)).toEqual([at(2), at(2)]);
  });

  it("of one NodePool leaves the others held", async () => {
    const story = twoNodes({ scope: "nodepool" });
    story.launch();
    story.launch({ pool: "batch" });
    await story.pass(minutes(2));

    await story.control({ do: "release", scope: "nodepool/batch" });
    await story.pass(minutes(10));

    expect(story.heldNodes()).toEqual(["a", "node-1"]);
  });
});

describe("a pause", () => {
  it.each(["cluster", "nodepool"] as const)(
    "releases, and nothing holds until it is over: scope %s",
    async (scope) => {
      const story = twoNodes({ scope });
      story.launch();
      await story.pass(minutes(2));

      const answer = await story.control({ do: "pause", for: "1h", reason: "upgrade" });
      const atOnce = story.marks();
      for (let n = 0; n < 11; n++) {
        story.launch({ pool: n % 2 ? "batch" : "new" });
        await story.pass(minutes(5));
        expect(story.marks()).toEqual({});
      }
      await story.pass(minutes(5));
      story.launch();
      await story.pass(minutes(2));

      expect(answer).toMatchObject({ released: 2 + (scope === "cluster" ? 1 : 0), until: at(62) });
      expect(atOnce).toEqual({});
      expect(story.heldNodes()).toContain("a");
    },
  );

  it("lasts until resumed when it has no end; then launches count from then on", async () => {
    const story = twoNodes();
    await story.control({ do: "pause" });
    story.launch();
    await story.pass(minutes(10));

    const answer = await story.control({ do: "resume" });
    await story.pass(minutes(6));
    const before = story.marks();
    story.launch();
    await story.pass(minutes(2));

    expect(answer).toMatchObject({ resumed: ["cluster"], because: "the pause is over" });
    expect(before).toEqual({});
    expect(story.heldNodes()).toHaveLength(4);
  });

  it.each(["cluster", "nodepool"] as const)("tells its reason until it is over: scope %s", async (scope) => {
    const story = twoNodes({ scope });
    story.launch();
    await story.pass(minutes(2));
    const status = () => story.control({ do: "status" });

    await story.control({ do: "pause", for: "1h", reason: "Ada replaces every node" });
    const during = JSON.stringify(await status());
    await story.pass(minutes(61));

    const told = during.match(/"because":"[^"]*"/g);
    expect(new Set(told)).toEqual(new Set(['"because":"paused by hand: Ada replaces every node"']));
    expect(JSON.stringify(await status())).not.toContain("Ada");
    expect(story.history()).toMatchObject([{ endedBecause: "paused by hand: Ada replaces every node" }]);
  });

  it.each(["cluster", "nodepool"] as const)("tells since when it lasts: scope %s", async (scope) => {
    const story = twoNodes({ scope });
    story.launch();
    await story.pass(minutes(2));
    const { time } = story;

    await story.control({ do: "pause", for: "1h" });
    await story.pass(minutes(10));
    await story.control({ do: "pause" });

    const told = JSON.stringify(await story.control({ do: "status" })).match(/"since":"[^"]*"/g);
    expect(new Set(told)).toEqual(new Set([`"since":"${time.toISOString()}"`]));
  });

  it("told by an earlier version, which kept neither reason nor beginning, is still a pause", async () => {
    const story = twoNodes();
    await story.control({ do: "pause" });
    const { quietBecause: _, quietSince: __, ...stored } = story.holds.records.get("cluster") ?? aRecord();
    story.holds.records.set("cluster", stored);

    const status = await story.control({ do: "status" });
    expect(status).toMatchObject({ scopes: [{ state: "paused", because: "paused by hand" }] });
    expect(JSON.stringify(status)).not.toContain('"since"');
  });

  it("refuses a hold by hand and says what to do", async () => {
    const story = twoNodes();
    await story.control({ do: "pause", for: "1h" });

    await expect(story.control({ do: "hold" })).rejects.toThrow(BadInputError);
    await expect(story.control({ do: "hold" })).rejects.toThrow("resume first");
  });

  it("of the whole cluster ends also the hold that a new NodePool's launch begins at the same moment", async () => {
    const story = twoNodes({ scope: "nodepool" });
    story.launch({ pool: "batch" });
    const hold = await story.deliver();
    while (hold.waitsFor !== "write") await story.step(hold);
    story.time = after(story.time, 1);

    await story.control({ do: "pause" });
    await story.finish(hold);
    await story.pass(minutes(5));

    expect(story.marks()).toEqual({});
    expect(story.hold("nodepool/batch")).toBeUndefined();
  });

  it("that ends for one NodePool while the cluster is paused says so", async () => {
    const story = twoNodes({ scope: "nodepool" });
    story.launch();
    await story.pass(minutes(1));
    await story.control({ do: "pause" });

    const answer = await story.control({ do: "resume", scope: "nodepool/default" });

    expect(answer.because).toBe("the whole cluster is still paused: resume it");
  });
});

describe("a hold by hand", () => {
  it("marks at once, lasts as long as asked and is released like any other", async () => {
    const story = twoNodes();

    const answer = await story.control({ do: "hold", for: "45m", reason: "load test" });
    await story.pass(minutes(44));
    const nearTheEnd = story.heldNodes();
    await story.pass(minutes(1));

    expect(answer).toMatchObject({ holdId: holdId(1), marked: 2, userHeld: 0, until: at(45) });
    expect(nearTheEnd).toEqual(["a", "b"]);
    expect(story.marks()).toEqual({});
    expect(story.history()).toMatchObject([{ startedBecause: "held by hand: load test" }]);
  });

  it("must name a NodePool where holds are by NodePool", async () => {
    const story = twoNodes({ scope: "nodepool" });

    await expect(story.control({ do: "hold" })).rejects.toThrow("scope is missing");
    await expect(story.control({ do: "hold", scope: "cluster" })).rejects.toThrow("scope must be");
    expect(await story.control({ do: "hold", scope: "nodepool/batch" })).toMatchObject({ marked: 1 });
  });
});

describe("in scope nodepool", () => {
  it("a launch in one NodePool leaves the others free", async () => {
    const story = twoNodes({ scope: "nodepool" });
    story.launch({ pool: "batch" });

    await story.pass(minutes(2));
    const held = story.heldNodes();
    await story.pass(minutes(18));

    expect(held).toEqual(["b", "node-1"]);
    expect(story.marks()).toEqual({});
    expect(story.history()).toMatchObject([{ scope: "nodepool/batch" }]);
  });

  it("every NodePool has its own hold and expiry", async () => {
    const story = twoNodes({ scope: "nodepool" });
    story.launch();
    await story.pass(minutes(10));
    story.launch({ pool: "batch" });
    await story.pass(minutes(15));

    expect(story.heldNodes()).toEqual(["b", "node-2"]);
  });
});

describe("the status", () => {
  it("tells who is held, until when and why", async () => {
    const story = twoNodes();
    story.launch({ joinsAfter: minutes(3) });
    await story.pass(minutes(1));

    const status = await story.control({ do: "status" });

    expect(status).toMatchObject({
      cluster: "prod",
      scopes: [
        {
          scope: "cluster",
          state: "held",
          because: "a node was launched in NodePool default",
          until: at(20),
          nodesHeld: 2,
          awaited: 1,
          nextSchedule: at(20),
        },
      ],
      nodesUserHeld: 0,
    });
  });

  it("changes nothing", async () => {
    const story = twoNodes();

    await story.control({ do: "status" });

    expect(story.holds.records.size).toBe(0);
  });
});
