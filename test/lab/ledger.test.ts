import { readFileSync } from "node:fs";
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { analyse, criteria } from "../../lab/smoke/ledger/criteria.ts";
import { priceLines } from "../../lab/smoke/ledger/price.ts";
import { beginning, lookAt, type Sources } from "../../lab/smoke/ledger/recorders.ts";
import { type NodeSeen, readSamples, type Sample } from "../../lab/smoke/ledger/samples.ts";
import { after, type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { version } from "../../lambda/version.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const every = seconds(30);
const { annotation: key } = Karpenter.v1;

/** Hours of bursts of Jobs in virtual time, recorded and released in the end as on an account. */
async function play(lasts: Duration, settings: ConstructorParameters<typeof Scenario>[0]) {
  const world = new Scenario(settings);
  world.addNode("old");
  world.cluster.pods.add({
    name: "service",
    node: "old",
    owner: { apiVersion: "apps/v1", kind: "ReplicaSet" },
  });
  world.addNode("users", { annotations: { [key]: "true" } });
  const sources: Sources = {
    ask: async (request) => {
      const answer = await world.control(request as Parameters<typeof world.control>[0]);
      return JSON.parse(JSON.stringify({ ...Object(answer), version }));
    },
    nodes: async () => nodesOf(world),
  };
  const samples: Sample[] = [beginning("prod", every, world.time)];
  const record = async (until: Date, beforeEach: () => void) => {
    while (world.time < until) {
      beforeEach();
      await world.pass(every);
      for (const recorder of ["record", "nodes"] as const)
        samples.push(await lookAt(recorder, sources, world.time));
    }
  };
  const begin = world.time.getTime();
  await record(after(world.time, lasts), () => {
    removeEmpty(world);
    if ((world.time.getTime() - begin) % minutes(30) === 0) startJobs(world);
  });
  await world.control({ do: "release", reason: "the end of the ledger" });
  await record(after(world.time, minutes(3)), () => {});
  // As a file has them.
  return readSamples(samples.map((sample) => JSON.stringify(sample)).join("\n"));
}

/** Three Jobs of eight minutes, each on a new node. */
function startJobs(world: Scenario): void {
  for (let i = 0; i < 3; i++) {
    const { node } = world.launch({ joinsAfter: seconds(40) });
    const job = { name: `job-on-${node}`, node, owner: { apiVersion: "batch/v1", kind: "Job" } };
    world.clock.at(after(world.time, seconds(40)), () => world.cluster.pods.add(job));
    world.clock.at(after(world.time, minutes(8)), () => world.cluster.pods.remove(job.name));
  }
}

/** Karpenter removes launched nodes that are empty and may be disrupted. */
function removeEmpty(world: Scenario): void {
  const busy = new Set(world.cluster.pods.all().map(({ spec }) => Object(spec).nodeName));
  for (const { name, annotations, joinedAt } of world.nodes.all())
    if (joinedAt > noon && joinedAt < after(world.time, -minutes(2)) && !annotations[key] && !busy.has(name))
      world.nodes.remove(name);
}

const nodesOf = (world: Scenario): readonly NodeSeen[] =>
  world.nodes.all().map(({ name, pool = "", joinedAt: createdAt, labels, annotations }) => ({
    ...{ name, nodePool: pool, createdAt, label: labels[holdLabel], annotation: annotations[key] },
  }));

const broken = (samples: readonly Sample[]) =>
  analyse(samples)
    .filter(({ verdict }) => verdict === "broken")
    .map(({ assumption }) => assumption);

type NodesSample = Extract<Sample, { kind: "nodes" }>;
type RecordSample = Extract<Sample, { kind: "record" }>;

it("five hours meet every criterion with hold=auto, where launches never let a hold end", async () => {
  const samples = await play(hours(5), { auto: true });
  const rows = analyse(samples);
  expect(rows.filter(({ verdict }) => verdict === "broken")).toEqual([]);
  expect(rows.map(({ seen }) => seen)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^30 nodes, /),
      expect.stringMatching(/^3\d marks went$/),
      "1 holds, the last mark 0 s later",
    ]),
  );
});

describe("a ledger of four hours", async () => {
  const samples = await play(hours(4), { hold: minutes(20), auto: false });
  const [, noon] = samples;
  const at = (minute: number) => after(noon?.at ?? new Date(), minutes(minute));
  /** The same ledger, with nodes or records as another holder would have left them. */
  const withNodes = (change: (node: NodeSeen, sample: NodesSample) => NodeSeen) =>
    samples.map((one) =>
      one.kind === "nodes" ? { ...one, nodes: one.nodes.map((node) => change(node, one)) } : one,
    );
  const withRecords = (change: (scope: RecordSample["scopes"][number]) => RecordSample["scopes"][number]) =>
    samples.map((one) => (one.kind === "record" ? { ...one, scopes: one.scopes.map(change) } : one));
  const unmarked = (node: NodeSeen): NodeSeen => ({ ...node, label: undefined, annotation: undefined });
  const firstHold = samples.flatMap((one) => (one.kind === "record" ? one.scopes : []))[0]?.holdId;

  it("meets every criterion where the holder works", () => {
    expect(analyse(samples)).toHaveLength(criteria.length);
    expect(broken(samples)).toEqual([]);
  });

  it.each<[string, readonly Sample[]]>([
    ["a node that joins finds its scope held", withRecords((scope) => ({ ...scope, state: "none" }))],
    ["a node that joins is marked", withNodes((node) => (node.name === "node-4" ? unmarked(node) : node))],
    [
      "a mark stays until its hold ends, or the node is let go",
      withNodes((node, { at: now }) =>
        node.name === "old" && now > at(8) && now < at(10) ? unmarked(node) : node,
      ),
    ],
    [
      "a hold that has ended leaves no mark",
      withNodes((node) => (node.name === "old" ? { ...node, label: firstHold, annotation: "true" } : node)),
    ],
    [
      "the annotation of a node without our label does not change",
      withNodes((node, { at: now }) => (node.name === "users" && now > at(60) ? unmarked(node) : node)),
    ],
    [
      "record and cluster agree how many nodes are held",
      withRecords((scope) => ({ ...scope, nodesHeld: scope.nodesHeld + 1 })),
    ],
    ["both recorders looked all the time", samples.filter(({ kind }, i) => kind !== "record" || i % 8 !== 1)],
  ])("finds where it is not so: %s", (criterion, ledger) => {
    expect(broken(ledger)).toContain(criterion);
  });

  it("counts a node that joins in the second in which it begins: the cluster's times have whole seconds", () => {
    const [begin, ...rest] = samples;
    const nodes = rest.flatMap((one) => (one.kind === "nodes" ? one.nodes : []));
    const joined = nodes.find(({ name }) => name !== "old" && name !== "users")?.createdAt;
    if (begin?.kind !== "begin" || !joined) throw new Error("no node joined");
    const firstBurst = rest.filter((one) => one.at >= joined && one.at < after(joined, minutes(50)));
    const ledger = [{ ...begin, at: after(joined, 900) }, ...firstBurst];
    expect(broken(ledger)).not.toContain("a node that joins is marked");
  });

  it("proves nothing where nothing was seen", () => {
    expect(broken(samples.slice(0, 3))).toEqual(
      expect.arrayContaining(["a node that joins is marked", "a hold that has ended leaves no mark"]),
    );
  });

  it("compares the cluster with the record of the same moment, also at the end and the beginning of a hold", () => {
    const seen = analyse(samples).map((row) => row.seen);
    expect(seen).toContain("486 of 486");
  });

  it("is judged by the criteria that were written down when it began", () => {
    const [begin, ...rest] = samples;
    if (begin?.kind !== "begin") throw new Error("no beginning");
    expect(begin.criteria).toHaveLength(criteria.length);
    expect(() => analyse([{ ...begin, criteria: begin.criteria.slice(1) }, ...rest])).toThrow("have changed");
  });
});

it("a look that fails is written down, and a line that is cut off is left out", async () => {
  const ask = () => Promise.reject(new Error("no answer"));
  const failed = await lookAt("record", { ask, nodes: async () => [] }, new Date(0));
  expect(failed).toMatchObject({ kind: "failure", recorder: "record", message: "no answer" });
  expect(readSamples(`${JSON.stringify(failed)}\n{"kind":"end","at":"2026`)).toHaveLength(1);
});

it("names the price before it starts", () => {
  expect(priceLines(hours(12)).join("\n")).toMatch(
    /^ +0\.51 US\$ {2}the holder\n(.*\n)+ +\d\.\d\d US\$ {2}together$/,
  );
});

it("the work for it is what a cluster takes", () => {
  const objects = loadAll(readFileSync("lab/smoke/ledger/work.yaml", "utf8"));
  expect(objects.map((one) => Object(one).kind)).toEqual(["Namespace", "Deployment", "CronJob"]);
});
