import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { noon } from "../support/fixed-clock.ts";
import { type LaunchAbout, Story } from "../support/story.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** A cluster in which Karpenter makes NodeClaims and writes events. */
class KarpenterStory extends Story {
  constructor(rules: Partial<Rules> = {}) {
    super(rules);
    this.nodeClaims.unavailable = undefined;
  }

  /** Launches for waiting pods. */
  demand(about: LaunchAbout = {}) {
    const launch = this.launch(about);
    const name = `claim-of-${launch.node}`;
    this.nodeClaims.add({ name, createdAt: after(this.time, -seconds(2)), instance: launch.instance });
    return { ...launch, name };
  }

  /** Launches in the place of other nodes. */
  replacement(about: LaunchAbout & Readonly<{ isNamed?: boolean }> = {}) {
    const { isNamed = true, ...rest } = about;
    const launch = this.demand(rest);
    if (isNamed) this.nameAsReplacement(launch);
    return launch;
  }

  nameAsReplacement({ name }: Readonly<{ name: string }>): void {
    this.nodeClaims.events.set(name, this.time);
  }

  /** A pod was scheduled to this NodeClaim's node, or has left it. */
  use({ name }: Readonly<{ name: string }>): void {
    const claim = this.nodeClaims.claims.get(name);
    if (claim) this.nodeClaims.claims.set(name, { ...claim, lastPodEventAt: this.time });
  }
}

const verdicts = (story: Story) => story.log.told("launch judged").map(({ kind }) => kind);

describe("a replacement", () => {
  it("starts no hold, also when its event comes after the instance", async () => {
    const story = new KarpenterStory();
    const late = story.replacement({ isNamed: false });
    await story.pass(seconds(1));
    story.nameAsReplacement(late);
    await story.pass(minutes(3));

    expect(story.holds.records.get("cluster")?.hold).toBeUndefined();
    expect(verdicts(story)).toEqual(["unknown yet", "replacement"]);
    expect(story.metrics.total("ReplacementsIgnored")).toBe(1);
  });

  it("starts none later either, when its event has expired and a sweep finds its node without a mark", async () => {
    const story = new KarpenterStory({ hold: hours(6), maxHold: hours(12) });
    const replacement = story.replacement();
    await story.pass(minutes(60));
    story.nodeClaims.events.clear();
    story.queue.sendLaunch(replacement);
    await story.pass(hours(4));

    expect(story.history()).toEqual([]);
    expect(story.hold()).toBeUndefined();
  });

  it("extends no hold, and its node is marked like any other while one is on", async () => {
    const story = new KarpenterStory();
    story.demand();
    await story.pass(minutes(10));
    story.sweepEvery = undefined;
    const { node } = story.replacement();
    await story.pass(minutes(2));

    expect(story.heldNodes()).toContain(node);
    expect(story.hold()?.expiresAt).toEqual(at(20));
    await story.pass(minutes(9));
    expect(story.marks()).toEqual({});
  });

  it("holds where the settings want it to", async () => {
    const story = new KarpenterStory({ replacements: "hold" });
    story.replacement();
    await story.pass(seconds(1));
    expect(story.hold()?.state).toBe("held");
  });
});

describe("a demand launch", () => {
  it("is protected two seconds after it at the latest, whatever is replaced at the same time", async () => {
    const story = new KarpenterStory();
    story.replacement();
    const { instance } = story.demand();
    await story.pass(seconds(2));

    expect(story.hold()).toMatchObject({ state: "held", launches: 1, causes: { launches: { default: 1 } } });
    expect(story.log.told("launch judged").find(({ kind }) => kind === "demand")?.instances).toEqual([
      instance,
    ]);
  });

  it("is protected at once where its event is older than two seconds", async () => {
    const story = new KarpenterStory();
    story.demand({ eventAfter: seconds(3) });
    await story.pass(seconds(3));
    expect(story.hold()?.state).toBe("held");
  });

  it("waits for a replacement's instance to be known, and is held in doubt after a minute", async () => {
    const story = new KarpenterStory();
    story.nodeClaims.add({ name: "slow", createdAt: noon });
    story.nameAsReplacement({ name: "slow" });
    story.demand();
    await story.pass(seconds(50));
    const inDoubt = story.hold();
    await story.pass(seconds(15));

    expect(inDoubt).toBeUndefined();
    expect(story.hold()?.state).toBe("held");
  });

  it.each([
    ["without the rights", { unavailable: "the holder may not list", isMissingRight: true }, 1],
    ["where there are no NodeClaims", { unavailable: "the cluster has no NodeClaims" }, 0],
  ])("is protected at once %s", async (_, unavailable, missing) => {
    const story = new KarpenterStory();
    story.demand();
    story.nodeClaims.unavailable = unavailable;
    await story.pass(0);
    expect(story.hold()?.state).toBe("held");
    expect(story.metrics.total("RightsMissing")).toBe(missing);
  });

  it("is held within a minute when Karpenter's events cannot be read", async () => {
    const story = new KarpenterStory();
    story.nodeClaims.hooks = {
      before: () => {
        throw new Error("no answer");
      },
    };
    story.demand();
    await story.pass(minutes(1.2));
    expect(story.hold()?.state).toBe("held");
  });
});

describe("a hold whose nodes are in use", () => {
  it("is released a hold after the last use, by one list when it is due", async () => {
    const story = new KarpenterStory();
    story.sweepEvery = undefined;
    const burst = story.demand();
    await story.pass(minutes(15));
    story.use(burst);
    await story.pass(minutes(6));
    const extended = story.hold();
    await story.pass(minutes(13));
    const nearTheEnd = story.heldNodes();
    await story.pass(minutes(3));

    expect(extended).toMatchObject({ expiresAt: at(35), causes: { uses: 1, usedAt: at(15) } });
    expect(nearTheEnd).toEqual([burst.node]);
    expect(story.marks()).toEqual({});
    expect(story.metrics.total("HoldsExtendedByUse")).toBe(1);
  });

  it("is not released by a sweep that comes before the one-shot", async () => {
    const story = new KarpenterStory();
    const burst = story.demand();
    await story.pass(minutes(15));
    story.use(burst);
    story.schedules.armed.clear();
    await story.pass(minutes(10));
    expect(story.heldNodes()).toEqual([burst.node]);
  });

  it("ends at its cap, and a breather follows", async () => {
    const story = new KarpenterStory({ maxHold: minutes(50) });
    const burst = story.demand();
    for (let minute = 0; minute < 60; minute += 5) {
      await story.pass(minutes(5));
      story.use(burst);
    }
    expect(story.marks()).toEqual({});
    expect(story.history()).toMatchObject([{ capped: true, endedBecause: "the hold has reached its cap" }]);
    expect(story.holds.records.get("cluster")?.quiet).toBe("breather");
  });

  it.each<[string, Partial<Rules>, (story: KarpenterStory) => void]>([
    ["nodes of before the burst", {}, (story) => story.nodeClaims.add({ name: "old", createdAt: at(-60) })],
    ["replacements", {}, (story) => void story.replacement()],
    ["any node, where launches alone extend", { extendOn: "launches" }, (story) => void story.demand()],
  ])("is not extended by the use of %s", async (_, rules, prepare) => {
    const story = new KarpenterStory(rules);
    story.demand();
    await story.pass(seconds(5));
    prepare(story);
    await story.pass(minutes(15));
    for (const name of story.nodeClaims.claims.keys()) {
      if (rules.extendOn || name !== "claim-of-node-1") story.use({ name });
    }
    await story.pass(minutes(6));
    expect(story.marks()).toEqual({});
  });

  it("is released ten minutes late at most when its use cannot be read, however often", async () => {
    const story = new KarpenterStory({ maxHold: 0 });
    story.demand();
    await story.pass(minutes(15));
    story.nodeClaims.hooks = {
      before: () => {
        throw new Error("no answer");
      },
    };
    await story.pass(minutes(10));
    const inDoubt = Object.keys(story.marks());
    await story.pass(minutes(10));
    expect([inDoubt, story.marks()]).toEqual([["node-1"], {}]);
  });
});
