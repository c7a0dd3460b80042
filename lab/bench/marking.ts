import { hours } from "../../lambda/core/duration.ts";
import { holdIdOf } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { within } from "../../test/support/context.ts";
import { BareLoop } from "./bare-loop.ts";
import {
  type Advance,
  type Bench,
  count,
  type Figure,
  median,
  ms,
  type Plot,
  rate,
  type Size,
  sum,
} from "./figure.ts";
import { createNodes, doorOf, holderNodes, installRights, nodeNames } from "./nodes-on-plane.ts";
import { type Cost, costOf, cpu, inRounds, type Rounds } from "./rounds.ts";

type Sized = Readonly<{ nodes: number; rounds: number }>;
/** What is measured, so that all of it takes less than five minutes on two cores; `tried` is only shown beside it. */
type Plan = Readonly<{ tried: Sized; sizes: readonly Sized[]; shown: readonly number[] }>;

const plans: Readonly<Record<Size, Plan>> = {
  whole: {
    tried: { nodes: 200, rounds: 3 },
    sizes: [
      { nodes: 100, rounds: 7 },
      { nodes: 1_000, rounds: 5 },
      { nodes: 5_000, rounds: 3 },
    ],
    shown: [1_000, 5_000],
  },
  quick: {
    tried: { nodes: 20, rounds: 1 },
    sizes: [
      { nodes: 20, rounds: 1 },
      { nodes: 50, rounds: 1 },
    ],
    shown: [20, 50],
  },
};
const triedLimits = [8, 16, 32];
const goal = 90;
/** client-go's default, which the first node holder used: five requests a second after a burst of ten. */
const clientGo = (requests: number) => ((requests - 10) / 5) * 1000;

/** Marks and releases all nodes of a real kube-apiserver, in turns with a bare loop that sends as many patches. */
export const marking: Bench = {
  name: "marking",
  title: "Marking and releasing, on a real kube-apiserver",
  seconds: 270,
  async run(size, advance) {
    const plan = plans[size];
    const { sizes, shown, tried } = plan;
    const counted = countedPatches(plan, advance);
    const plane = await ControlPlane.start();
    const admin = new BareLoop(doorOf(plane, "admin"), 16);
    try {
      const names = nodeNames(Math.max(...sizes.map(({ nodes }) => nodes)));
      const some = names.slice(0, tried.nodes);
      await createNodes(admin, some);
      await installRights(plane);
      const limits = await tryLimits(plane, tried, some, counted);
      const limit = limits[0]?.limit ?? 16;
      const policy = await policyCost(plane, { ...tried, limit }, some, counted);
      await admin.each(some, "DELETE", () => undefined);
      const measured = await measureAll({ plane, plan, admin, limit, counted }, names);
      const figures = measured.filter(({ nodes }) => shown.includes(nodes)).flatMap(figuresOf);
      const roundsOf = sizes.map(({ nodes, rounds }) => `${rounds} at ${count(nodes)} nodes`).join(", ");
      return {
        figures: [...figures, limitFigure(limits), policy],
        notes: `${notes} Rounds: ${roundsOf}.`,
        plots: [plotOf(measured)],
      };
    } finally {
      admin.close();
      await plane.stop();
    }
  },
};

const notes = `Holder and bare loop ask as the same user, under the holder's RBAC and admission policy, and share the processors with the API server. The bare
loop sends the same marks without what makes them safe: it lists nothing, its patches carry no \`test\`, and it reads no answer. The share is the median of the
rounds, in each of which both take their turn, every other time in the other order. The processor time beside it is this process's own, without the API server's.`;

/** The policy admits no label but a hold's id. */
const holdOf = (round: number): string => holdIdOf(new Date(Date.UTC(2026, 0, 1, 0, round)), "abcdef");

type Work = "bare mark" | "bare release" | "mark" | "release";
type Measured = Readonly<{ nodes: number; rounds: Rounds<Work> }>;

const pathOf = (half: string, key: string) => `/metadata/${half}/${key.replace("/", "~1")}`;
const halves = [
  { path: pathOf("annotations", Karpenter.v1.annotation), value: "true" },
  { path: pathOf("labels", holdLabel), value: holdOf(0) },
];
const bareMark = () => halves.map((half) => ({ op: "add", ...half }));
const bareRelease = () => halves.map(({ path }) => ({ op: "remove", path }));

type Counted = (patches: number, now: string) => void;

/** Reports how many of the plan's patches are done. */
function countedPatches({ tried, sizes }: Plan, advance: Advance): Counted {
  const ofTried = tried.rounds * tried.nodes * 2 * (triedLimits.length + 2);
  const all = ofTried + sum(sizes.map(({ nodes, rounds }) => nodes * rounds * 4));
  let done = 0;
  return (patches, now) => {
    done += patches;
    advance(done / all, now);
  };
}

type Ground = Readonly<{
  plane: ControlPlane;
  plan: Plan;
  admin: BareLoop;
  limit: number;
  counted: Counted;
}>;

/** In a cluster that grows, because the holder marks all there are. */
async function measureAll(ground: Ground, names: readonly string[]): Promise<readonly Measured[]> {
  const { plane, plan, admin, limit } = ground;
  const loop = new BareLoop(doorOf(plane, "holder"), limit);
  const measured: Measured[] = [];
  for (const [i, { nodes, rounds }] of plan.sizes.entries()) {
    await createNodes(admin, names.slice(plan.sizes[i - 1]?.nodes ?? 0, nodes));
    measured.push(await measure(ground, loop, { rounds, names: names.slice(0, nodes) }));
  }
  loop.close();
  return measured;
}

async function measure(
  { plane, counted }: Ground,
  loop: BareLoop,
  { rounds, names }: Readonly<{ rounds: number; names: readonly string[] }>,
): Promise<Measured> {
  const { nodes, close } = holderNodes(plane);
  const patient = () => within(hours(1));
  const groups = [
    {
      "bare mark": () => loop.each(names, "PATCH", bareMark),
      "bare release": () => loop.each(names, "PATCH", bareRelease),
    },
    {
      mark: (round: number) => nodes.mark({ scope: "cluster", holdId: holdOf(round) }, patient()),
      release: (round: number) => nodes.release(holdOf(round), patient()),
    },
  ];
  const measured = await inRounds<Work>(rounds, groups, (round) =>
    counted(4 * names.length, `${count(names.length)} nodes, round ${round} of ${rounds} done`),
  );
  await close();
  return { nodes: names.length, rounds: measured };
}

type Tried = Readonly<{ limit: number; time: number }>;

const bothWays = (loop: BareLoop, names: readonly string[]) => async () => {
  await loop.each(names, "PATCH", bareMark);
  await loop.each(names, "PATCH", bareRelease);
};

/** The bare loop with more and more requests in flight, the fastest first. */
async function tryLimits(
  plane: ControlPlane,
  { rounds, nodes }: Sized,
  names: readonly string[],
  counted: Counted,
): Promise<readonly Tried[]> {
  const loops = triedLimits.map((limit) => new BareLoop(doorOf(plane, "holder"), limit));
  const turns = loops.map((loop) => ({ [loop.limit]: bothWays(loop, names) }));
  const costs = await inRounds(rounds, turns, () => counted(2 * nodes * loops.length, "requests in flight"));
  for (const loop of loops) loop.close();
  return Object.entries(costs)
    .map(([limit, ofLimit]) => ({ limit: Number(limit), time: costOf(ofLimit).time }))
    .toSorted((a, b) => a.time - b.time);
}

const limitFigure = (tried: readonly Tried[]): Figure => ({
  what: "requests in flight at which the bare loop is fastest; it has so many above",
  value: `${tried[0]?.limit}`,
  beside: tried.map(({ limit, time }) => `${limit}: ${ms(time)}`).join("; "),
});

/** The same patches as an administrator, that neither RBAC nor our policy concerns. */
async function policyCost(
  plane: ControlPlane,
  { rounds, nodes, limit }: Sized & Readonly<{ limit: number }>,
  names: readonly string[],
  counted: Counted,
): Promise<Figure> {
  const admin = new BareLoop(doorOf(plane, "admin"), limit);
  const holder = new BareLoop(doorOf(plane, "holder"), limit);
  const groups = [{ admin: bothWays(admin, names) }, { holder: bothWays(holder, names) }];
  const costs = await inRounds<"admin" | "holder">(rounds, groups, () =>
    counted(4 * nodes, "the policy's cost"),
  );
  for (const loop of [admin, holder]) loop.close();
  const each = ({ time }: Cost) => `${ms(time)}, ${Math.round((time / names.length / 2) * 1000)} µs a patch`;
  return {
    what: `${count(2 * names.length)} bare patches as the holder, under its RBAC and admission policy`,
    value: each(costOf(costs.holder)),
    beside: `as an administrator, that neither concerns: ${each(costOf(costs.admin))}`,
  };
}

function figuresOf({ nodes, rounds }: Measured): Figure[] {
  return (["mark", "release"] as const).map((what) => {
    const [own, bare] = [costOf(rounds[what]), costOf(rounds[`bare ${what}`])];
    const shares = rounds[what].map((cost, round) => (rounds[`bare ${what}`][round]?.time ?? 0) / cost.time);
    const share = Math.round(median(shares) * 100);
    const limits = `client-go's default limits ${ms(clientGo(nodes))} (computed)`;
    return {
      what: `${what} ${count(nodes)} nodes`,
      value: `${ms(own.time)}, ${rate(nodes, own.time)}: ${share} % of the bare loop's rate; ${cpu(own, nodes)}`,
      beside: `bare PATCH loop ${ms(bare.time)}, ${cpu(bare, nodes)}; ${limits}`,
      goal: `≥ ${goal} %`,
      reached: share >= goal,
    };
  });
}

function plotOf(all: readonly Measured[]): Plot {
  const line = (name: string, work: Work) => ({
    name,
    points: all.map((one) => [one.nodes, Math.round(costOf(one.rounds[work]).time)] as const),
  });
  return {
    name: "marking",
    lines: {
      title: "Marking and releasing",
      subtitle: "medians, as the holder's own user under its policy",
      x: { label: "nodes" },
      y: { label: "time", unit: "ms" },
      series: [
        line("mark", "mark"),
        line("bare loop of marks", "bare mark"),
        line("release", "release"),
        line("bare loop of releases", "bare release"),
      ],
    },
  };
}
