import { describe, expect, it, onTestFinished, vi } from "vitest";
import { after, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { onControlRequest } from "../../lambda/handlers/control.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { KubernetesPods } from "../../lambda/kubernetes/pods.ts";
import type { Settings } from "../../lambda/settings.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { until } from "../support/context.ts";

const deadline = new Date(noon.getTime() + 60_000);
const record = (body: unknown, n = 0) => ({
  messageId: `m-${n}`,
  body: typeof body === "string" ? body : JSON.stringify(body),
  attributes: { SentTimestamp: `${noon.getTime()}` },
});
const batchOf = (...bodies: unknown[]) => ({ Records: bodies.map(record) });
const failed = (...ns: number[]) => ({ batchItemFailures: ns.map((n) => ({ itemIdentifier: `m-${n}` })) });
const anInstance = "i-0abcd1234ef567890";
/** What a rule of `holdOn` sends. */
const anEvent = {
  ...{ cause: "event", name: "deploys", for: "30m", scope: "cluster", reason: "deploy 7" },
  at: noon.toISOString(),
};

function aWorld(settings: Partial<Settings> = {}): World {
  const world = new World(settings);
  world.ec2.add(anInstance, noon, "default");
  world.nodes.add("a");
  return world;
}
const callsOf = (world: World, name: string) => world.calls.filter((call) => call === name).length;
const handle = (world: World, event: unknown) =>
  onNodeLaunched(world.ports)(event, until(deadline, world.log));

describe("a batch", () => {
  it("is handled together: one look-up, one write", async () => {
    const world = aWorld();
    const others = Array.from({ length: 99 }, (_, n) => `i-${(n + 1).toString(16).padStart(8, "0")}`);
    for (const one of others) world.ec2.add(one, noon, "default");

    const events = [anInstance, ...others].map((one) => launchEvent(one, noon));
    const answer = await handle(world, batchOf(...events));

    expect(answer).toEqual(failed());
    expect([callsOf(world, "instances"), callsOf(world, "write")]).toEqual([1, 1]);
    expect(world.holds.records.get("cluster")?.figures.launches).toEqual({ default: 100 });
  });

  it.each(["instances", "find", "write", "list", "arm", "enqueue"])(
    "fails whole when something unexpected happens to its work: %s",
    async (what) => {
      const world = aWorld();
      world.refuses = (call) => call === what;

      await expect(handle(world, batchOf(launchEvent(anInstance, noon)))).rejects.toThrow(TryAgainError);
      // By which an operator finds why it became a dead letter.
      expect(world.log.reported("batch received")[0]?.instances).toEqual([anInstance]);
    },
  );

  it.each(["cluster", "nodepool"] as const)(
    "whose instances the cloud does not name now holds for what the NodeClaims show, by %s",
    async (scope) => {
      const world = aWorld();
      world.deploy({ scope });
      world.nodes.add("other", { pool: "other" });
      world.nodeClaims.add({ name: "c", createdAt: noon, instance: anInstance, nodePool: "default" });
      world.refuses = (call) => call === "instances";
      await expect(handle(world, batchOf(launchEvent(anInstance, noon)))).rejects.toThrow(TryAgainError);
      expect(world.nodes.held()).toEqual(scope === "cluster" ? ["a", "other"] : ["a"]);
      expect(callsOf(world, "list")).toBe(1);
    },
  );

  it("whose instances the cloud does not name waits ten seconds for the NodeClaims, and does the rest", async () => {
    const world = aWorld();
    await handle(world, batchOf(launchEvent(anInstance, noon)));
    world.nodes.add("young");
    world.refuses = (call) => call === "instances";
    world.hangs = (call) => call === "claims";
    const followUp = { kind: "scope", scope: "cluster", isLook: false };
    await expect(handle(world, batchOf({ followUp }, launchEvent(anInstance, noon)))).rejects.toThrow();
    expect(world.nodes.held()).toEqual(["a", "young"]);
    expect(world.time).toEqual(after(noon, seconds(20)));
  });

  it("of several attempts waits for the cloud once, so that a pass is left time where that does not answer", async () => {
    const world = aWorld();
    const retried = {
      kind: "launches",
      launches: [{ instance: "i-2", launchedAt: noon }],
      firstSeenAt: noon,
    };
    const followUps = [1, 2].map((attempt) => ({ followUp: { ...retried, attempt } }));
    const steps: string[] = [];
    const find = async () => {
      steps.push("asked");
      await new Promise(setImmediate);
      steps.push("failed");
      throw new TryAgainError("EC2 does not answer");
    };
    const ports = { ...world.ports, launches: { ...world.ports.launches, find } };
    const batch = batchOf(launchEvent(anInstance, noon), ...followUps);
    await expect(onNodeLaunched(ports)(batch, until(deadline, world.log))).rejects.toThrow(
      "EC2 does not answer",
    );
    expect(steps).toEqual([...Array(3).fill("asked"), ...Array(3).fill("failed")]);
  });

  it("with a message that cannot be read fails for this message alone, and warns of nothing else", async () => {
    const world = aWorld();

    const answer = await handle(world, batchOf("{", launchEvent(anInstance, noon), {}));

    expect(answer).toEqual(failed(0, 2));
    expect(world.holds.records.get("cluster")?.figures.launches).toEqual({ default: 1 });
    expect(world.log.reported("malformed probes dropped")).toEqual([]);
  });

  it.each([
    ["reads the pods where a look is asked for", true, [], 1],
    ["reads none for a node that boots", false, [], 0],
    ["does not let a launch wait for them", true, [launchEvent(anInstance, noon)], 0],
  ])("%s", async (_, isLook, launches, times) => {
    const list = vi.spyOn(KubernetesPods.prototype, "list");
    onTestFinished(() => list.mockRestore());
    const world = aWorld({ auto: true });
    await handle(world, batchOf({ followUp: { kind: "scope", scope: "cluster", isLook } }, ...launches));
    expect(list).toHaveBeenCalledTimes(times);
  });

  it("checks each scope once, and answers two of many probes", async () => {
    const world = aWorld();
    await handle(world, batchOf(launchEvent(anInstance, noon)));
    const before = callsOf(world, "list");
    const followUp = { kind: "scope", scope: "cluster", isLook: false };
    const probes = Array.from({ length: 10 }, (_, n) => ({
      source: "karpenter-node-holder.probe",
      detail: { id: `probe-${n}`, cluster: "prod", sentAt: noon.toISOString() },
    }));

    await handle(world, batchOf({ followUp }, { followUp }, ...probes));

    expect(callsOf(world, "list") - before).toBe(1);
    expect(world.log.reported("probe answered")).toHaveLength(2);
  });

  it("answers the probes that came last, whatever time they give, and drops malformed ones", async () => {
    const world = aWorld();
    const source = "karpenter-node-holder.probe";
    const probe = (id: string, sentAt: Date, queuedBefore: number) => ({
      ...record({ source, detail: { id, cluster: "prod", sentAt } }),
      attributes: { SentTimestamp: `${noon.getTime() - queuedBefore}` },
    });
    await handle(world, { Records: [probe("too-late", noon, 600_000)] });
    expect(world.log.reported("probe answered")).toEqual([]);
    const forged = ["forged-1", "forged-2"].map((id) => probe(id, new Date("2030-01-01"), 2));

    const Records = [...forged, record({ source }), probe("doctor-1", noon, 1)];
    expect(await handle(world, { Records })).toEqual(failed());
    const answered = world.log.reported("probe answered").map(({ probe }) => probe);
    expect(answered).toContain("doctor-1");
    expect(world.log.reported("malformed probes dropped")).toEqual([{ probes: 1 }]);
  });

  it("of several events holds for each of them to its own end", async () => {
    const world = aWorld();
    const event = (minutes: number, name = `rule-${minutes}`) => ({
      hold: { ...anEvent, name, for: `${minutes}m`, reason: name },
    });
    await handle(world, batchOf(event(5), event(10), event(7, "rule-5")));
    const { requests } = world.holds.records.get("cluster") ?? { requests: [] };
    expect(requests.map(({ name, until }) => [name, (until.getTime() - noon.getTime()) / 60_000])).toEqual([
      ["rule-10", 10],
      ["rule-5", 7],
    ]);
  });

  it("with a request that does not fit the settings any more logs it, and does the rest", async () => {
    const world = aWorld();
    const [ofPool, tooLong] = [{ scope: "nodepool/batch" }, { for: "25h" }].map((about) => ({
      hold: { ...anEvent, ...about },
    }));
    const answer = await handle(world, batchOf(ofPool, tooLong, launchEvent(anInstance, noon)));
    expect(answer).toEqual(failed());
    const refused = world.log.reported("a request to hold cannot be done").map(({ scope }) => scope);
    expect(refused).toEqual(["nodepool/batch", "cluster"]);
    expect(world.nodes.held(holdId(1))).toEqual(["a"]);
  });

  it("protects after launches before it holds for events, also where one of those fails", async () => {
    const world = aWorld();
    let finds = 0;
    world.refuses = (call) => call === "find" && ++finds > 1;
    const batch = batchOf({ hold: anEvent }, launchEvent(anInstance, noon));
    await expect(handle(world, batch)).rejects.toThrow(TryAgainError);
    expect(world.nodes.held(holdId(1))).toEqual(["a"]);
  });

  it("with a probe answers it in the record, where it is asked for, and marks nothing", async () => {
    const world = aWorld();
    const detail = { id: "probe-1", cluster: "prod", sentAt: noon.toISOString() };

    await handle(world, batchOf({ source: "karpenter-node-holder.probe", detail }));

    const asked = (id: string) => onControlRequest(world.ports)({ do: "probe", id }, until(deadline));
    const probe = { sentAt: noon, queuedAt: noon, answeredAt: noon };
    expect(await asked("probe-1")).toMatchObject({ probe });
    expect(await asked("probe-2")).toEqual({ probe: null });
    expect([world.holds.records.size, world.nodes.held(holdId(1))]).toEqual([0, []]);
  });

  it.each([undefined, null, 7, {}, { Records: {} }, { Records: [7] }, { Records: [{ body: "{}" }] }])(
    "that is none is refused by name: %j",
    async (event) => {
      await expect(handle(aWorld(), event)).rejects.toThrow(
        /^This batch cannot be used: .*(the event|Records)/,
      );
    },
  );
});
