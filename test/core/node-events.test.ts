import { describe, expect, it } from "vitest";
import { seconds } from "../../lambda/core/duration.ts";
import { nodeEventOf } from "../../lambda/core/node-events.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import { reconcileAll } from "../../lambda/core/sweep.ts";
import { mostEvents } from "../../lambda/kubernetes/node-events.ts";
import type { Settings } from "../../lambda/settings.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aNode, aRequest, someRules } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";
import { at, launchAt, planAt } from "./plans.ts";

/** A world at noon with the nodes a and b, and the Events that a pass writes about them. */
function aWorld(settings: Partial<Settings> = {}) {
  const it = coreWorld({ rules: { nodeEvents: true, ...settings } });
  const { world, context } = it;
  for (const name of ["a", "b"]) world.nodes.add(name);
  const events = () => world.cluster.events.all().map(Object);
  let seen = 0;
  /** What `kubectl describe node` shows since this was last asked. */
  const news = () => {
    const all = events().slice(seen);
    seen += all.length;
    return all.map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason} ${message}`);
  };
  const pass = (minute: number, change?: (record: ScopeRecord) => ScopeRecord) => {
    world.time = at(minute);
    return reconcile(context(), "cluster", { launches: change ? [] : [launchAt(minute)], change });
  };
  const look = (minute: number) => {
    world.time = at(minute);
    return reconcileAll(context());
  };
  return { ...it, events, news, pass, look };
}

const incomplete = "not every Event about a node was written";
const launched = "a node was launched in NodePool default";

describe("an Event", () => {
  it("says of each node that is held or released until when and why; an extension changes no node", async () => {
    const { world, news, pass, look } = aWorld();
    await pass(0);
    const held = ["a", "b"].map((name) => `${name} Held Held until 12:20Z: ${launched}`);
    expect(news().toSorted()).toEqual(held);
    await pass(5);
    expect(news()).toEqual([]);
    world.nodes.add("c");
    await pass(6);
    expect(news()).toEqual([`c Held Held until 12:26Z: ${launched}`]);
    await look(27);
    expect(news().toSorted()).toEqual(
      ["a", "b", "c"].map((name) => `${name} Released Released: the hold expired`),
    );
  });

  it("names the reason of a request, and the day of an end that is not today", async () => {
    const { news, pass } = aWorld({ auto: true });
    await pass(0, (record) => ({ ...record, requests: [aRequest({ until: at(24 * 60) })] }));
    const [tomorrow] = at(24 * 60)
      .toISOString()
      .split("T");
    expect(news()).toContain(`a Held Held until ${tomorrow} 12:00Z: load test`);
  });

  it("says why nodes are held, not what Karpenter did before, while a request is on", () => {
    const account = {
      at: at(0),
      nodes: 2,
      pauses: noPauses,
      wasted: {},
      letGo: {},
      leftAlone: { a: at(60) },
    };
    const rules = someRules({ auto: true });
    const plan = planAt(0, {
      record: aHeldRecord({ account, requests: [aRequest({ until: at(300) })] }),
      rules,
      nodes: undefined,
    });
    const { message } = nodeEventOf(
      { do: "mark", node: aNode("a"), holdId: holdId(1), scope: "cluster" },
      { plan, rules, now: at(0) },
    );
    expect(message).toBe("Held until 17:00Z: a node was launched in NodePool default");
  });

  it("says of a drifted node why it is let go", async () => {
    const { world, news, pass, look } = aWorld();
    await pass(0);
    news();
    world.nodeClaims.change("i-a", { driftedAt: at(4) });
    await look(5);
    expect(news()).toEqual(["a LetGo Let go: it has drifted"]);
  });

  it("says so where no hold owned a node's mark", async () => {
    const { world, news, look } = aWorld();
    world.nodes.mark("a", holdId(7));
    await look(0);
    expect(news()).toEqual(["a Released Released: no hold owns its mark"]);
  });

  it("is not written where a new hold takes over the mark of an older one: the node was held all the time", async () => {
    const { world, news, pass } = aWorld();
    for (const name of ["a", "b"]) world.nodes.mark(name, "20260101t000000-earlie");
    expect(await pass(0)).toMatchObject({ changed: { adopted: 2 } });
    expect(news()).toEqual([]);
  });
});

describe("an Event that cannot be written", () => {
  it("fails no pass, comes after every mark, and is logged once", async () => {
    const { world, pass } = aWorld();
    world.refuses = (call) => call === "event";
    expect(await pass(0)).toMatchObject({ changed: { marked: 2, failed: 0 } });
    const [first] = world.calls.filter((call) => /^(patch|event|arm|enqueue)/.test(call)).slice(-2);
    expect(first).toBe("event");
    expect(world.log.reported(incomplete)).toHaveLength(1);
  });

  it("delays a pass by three seconds at most", async () => {
    const { world, pass, look } = aWorld();
    world.hangs = (call) => call === "event";
    await pass(0);
    expect(world.time).toEqual(new Date(at(0).getTime() + seconds(3)));
    await look(21);
    expect(world.time).toEqual(new Date(at(21).getTime() + seconds(3)));
  });

  it("because a pass has written enough is counted in the log", async () => {
    const { world, events, pass } = aWorld();
    for (let node = 2; node < mostEvents + 3; node++) world.nodes.add(`n${node}`);
    await pass(0);
    expect(events()).toHaveLength(mostEvents);
    expect(world.log.reported(incomplete)).toEqual([{ written: mostEvents, missing: 3 }]);
  });

  it("for want of a right counts as that", async () => {
    const { world, pass, metrics } = aWorld();
    world.cluster.events.isRefused = true;
    await pass(0);
    expect(metrics.total("RightsMissing")).toBe(1);
    const [line] = world.log.reported(incomplete);
    expect(line).toMatchObject({
      written: 0,
      missing: 2,
      error: { message: expect.stringContaining("manifest") },
    });
  });

  it("does not keep one of an earlier pass: it is gone", async () => {
    const { world, news, pass } = aWorld();
    world.refuses = (call) => call === "event";
    await pass(0);
    world.refuses = () => false;
    await pass(5);
    expect(news()).toEqual([]);
  });
});
