import { hours } from "../../lambda/core/duration.ts";
import { holdIdOf } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { within } from "../../test/support/context.ts";
import { BareLoop } from "./bare-loop.ts";
import { type Bench, count, type Figure, median, ms, type Plot, rate, type Size } from "./figure.ts";
import { createNodes, doorOf, holderNodes, installRights, nodeNames } from "./nodes-on-plane.ts";
import { type Cost, costOf, cpu, inRounds, type Rounds } from "./rounds.ts";

/** How often each size is measured, and how often what is only shown beside it. */
type Plan = Readonly<{ rounds: number; few: number; sizes: readonly number[]; shown: readonly number[] }>;

const plans: Readonly<Record<Size, Plan>> = {
  whole: { rounds: 7, few: 3, sizes: [100, 1_000, 5_000], shown: [1_000, 5_000] },
  quick: { rounds: 1, few: 1, sizes: [20, 50], shown: [20, 50] },
};
const goal = 90;
/** client-go's default, which the first node holder used: five requests a second after a burst of ten. */
const clientGo = (requests: number) => ((requests - 10) / 5) * 1000;

/** Marks and releases all nodes of a real kube-apiserver, in turns with a bare loop that sends as many patches. */
export const marking: Bench = {
  name: "marking",
  title: "Marking and releasing, on a real kube-apiserver",
  async run(size) {
    const plan = plans[size];
    const { sizes, shown } = plan;
    const plane = await ControlPlane.start();
    const admin = new BareLoop(doorOf(plane, "admin"), 16);
    try {
      const names = nodeNames(Math.max(...sizes));
      const some = names.slice(0, shown[0]);
      await createNodes(admin, some);
      await installRights(plane);
      const limits = await tryLimits(plane, plan, some);
      const limit = limits[0]?.limit ?? 16;
      const policy = await policyCost(plane, plan, limit, some);
      await admin.each(some, "DELETE", () => undefined);
      const measured = await measureAll(plane, plan, admin, limit, names);
      const figures = measured
        .filter(({ nodes }) => shown.includes(nodes))
        .flatMap((one) => figuresOf(one, plan));
      return { figures: [...figures, limitFigure(limits), policy], notes, plots: [plotOf(measured, plan)] };
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

/** In a cluster that grows, because the holder marks all there are. */
async function measureAll(
  plane: ControlPlane,
  plan: Plan,
  admin: BareLoop,
  limit: number,
  names: readonly string[],
): Promise<readonly Measured[]> {
  const loop = new BareLoop(doorOf(plane, "holder"), limit);
  const measured: Measured[] = [];
  for (const [i, size] of plan.sizes.entries()) {
    await createNodes(admin, names.slice(plan.sizes[i - 1] ?? 0, size));
    measured.push(await measure(plane, loop, plan, names.slice(0, size)));
  }
  loop.close();
  return measured;
}

async function measure(plane: ControlPlane, loop: BareLoop, { rounds }: Plan, names: readonly string[]) {
  const { nodes, close } = holderNodes(plane);
  const patient = () => within(hours(1));
  const measured = await inRounds(`marking ${count(names.length)} nodes`, rounds, [
    {
      "bare mark": () => loop.each(names, "PATCH", bareMark),
      "bare release": () => loop.each(names, "PATCH", bareRelease),
    },
    {
      mark: (round) => nodes.mark({ scope: "cluster", holdId: holdOf(round) }, patient()),
      release: (round) => nodes.release(holdOf(round), patient()),
    },
  ]);
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
  { few }: Plan,
  names: readonly string[],
): Promise<readonly Tried[]> {
  const loops = [8, 16, 32].map((limit) => new BareLoop(doorOf(plane, "holder"), limit));
  const turns = loops.map((loop) => ({ [loop.limit]: bothWays(loop, names) }));
  const rounds = await inRounds("the bare loop's requests in flight", few, turns);
  for (const loop of loops) loop.close();
  return Object.entries(rounds)
    .map(([limit, costs]) => ({ limit: Number(limit), time: costOf(costs).time }))
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
  { few }: Plan,
  limit: number,
  names: readonly string[],
): Promise<Figure> {
  const admin = new BareLoop(doorOf(plane, "admin"), limit);
  const holder = new BareLoop(doorOf(plane, "holder"), limit);
  const rounds = await inRounds("the price of the policy", few, [
    { admin: bothWays(admin, names) },
    { holder: bothWays(holder, names) },
  ]);
  for (const loop of [admin, holder]) loop.close();
  const each = ({ time }: Cost) => `${ms(time)}, ${Math.round((time / names.length / 2) * 1000)} µs a patch`;
  return {
    what: `${count(2 * names.length)} bare patches as the holder, under its RBAC and admission policy`,
    value: each(costOf(rounds.holder)),
    beside: `as an administrator, that neither concerns: ${each(costOf(rounds.admin))}`,
  };
}

function figuresOf({ nodes, rounds }: Measured, { shown }: Plan): Figure[] {
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
      ...(nodes === shown[0] && { answers: `${what} ${count(nodes)} nodes, real kube-apiserver` }),
    };
  });
}

function plotOf(all: readonly Measured[], { rounds }: Plan): Plot {
  const line = (name: string, work: Work) => ({
    name,
    points: all.map((one) => [one.nodes, Math.round(costOf(one.rounds[work]).time)] as const),
  });
  return {
    name: "marking",
    lines: {
      title: "Marking and releasing",
      subtitle: `medians of ${rounds}, as the holder's own user under its policy`,
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
