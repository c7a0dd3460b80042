import { hours } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { within } from "../../test/support/context.ts";
import { BareLoop } from "./bare-loop.ts";
import { type Bench, count, type Figure, median, ms, type Plot, rate, type Size, timed } from "./figure.ts";
import { createNodes, doorOf, holderNodes, installRights, nodeNames } from "./nodes-on-plane.ts";

type Plan = Readonly<{ rounds: number; sizes: readonly number[]; told: readonly number[] }>;

const plans: Readonly<Record<Size, Plan>> = {
  whole: { rounds: 9, sizes: [100, 500, 1_000, 2_500, 5_000], told: [1_000, 5_000] },
  quick: { rounds: 1, sizes: [20, 50], told: [20, 50] },
};
/** client-go's default, which the first node holder used: five requests a second after a burst of ten. */
const clientGo = (requests: number) => ((requests - 10) / 5) * 1000;

/** Marks and releases all nodes of a real kube-apiserver, in turns with a bare loop that sends as many patches. */
export const marking: Bench = {
  name: "marking",
  title: "Marking and releasing, on a real kube-apiserver",
  async run(size) {
    const plan = plans[size];
    const { sizes, told } = plan;
    const plane = await ControlPlane.start();
    const admin = new BareLoop(doorOf(plane, "admin"), 16);
    try {
      const names = nodeNames(Math.max(...sizes));
      const some = names.slice(0, told[0]);
      await createNodes(admin, some);
      await installRights(plane);
      const tried = await tryHands(plane, plan, some);
      const hands = tried[0]?.hands ?? 16;
      const policy = await policyCost(plane, plan, hands, some);
      await admin.each(some, "DELETE", () => undefined);
      const times = await measureAll(plane, plan, admin, hands, names);
      const figures = times
        .filter(({ nodes }) => told.includes(nodes))
        .flatMap((one) => figuresOf(one, plan));
      return { figures: [...figures, handsFigure(tried), policy], notes, plots: [plotOf(times, plan)] };
    } finally {
      admin.close();
      await plane.stop();
    }
  },
};

const notes = `Holder and bare loop ask as the same user, under the holder's RBAC and admission policy, and share the processors with the API server. The bare
loop sends the same marks without what makes them safe: it lists nothing, its patches carry no \`test\`, and it reads no answer. Where it falls
short of the goal, that is the processor: a call of ours takes more of its time than a bare one does, and the API server shares it.`;

type Work = "mark" | "release" | "bare mark" | "bare release";
type Times = Readonly<{ nodes: number }> & Readonly<Record<Work, number>>;

const pathOf = (half: string, key: string) => `/metadata/${half}/${key.replace("/", "~1")}`;
const halves = [
  { path: pathOf("annotations", Karpenter.v1.annotation), value: "true" },
  { path: pathOf("labels", holdLabel), value: "bare" },
];
const bareMark = () => halves.map((half) => ({ op: "add", ...half }));
const bareRelease = () => halves.map(({ path }) => ({ op: "remove", path }));

/** In a cluster that grows, because the holder marks all there are. */
async function measureAll(
  plane: ControlPlane,
  { rounds, sizes }: Plan,
  admin: BareLoop,
  hands: number,
  names: readonly string[],
) {
  const loop = new BareLoop(doorOf(plane, "holder"), hands);
  const times: Times[] = [];
  for (const [i, size] of sizes.entries()) {
    await createNodes(admin, names.slice(sizes[i - 1] ?? 0, size));
    times.push(await measure(plane, loop, rounds, names.slice(0, size)));
  }
  loop.close();
  return times;
}

async function measure(
  plane: ControlPlane,
  loop: BareLoop,
  rounds: number,
  names: readonly string[],
): Promise<Times> {
  const { nodes, close } = holderNodes(plane);
  const far = within(hours(1));
  const times = await inRounds(rounds, {
    "bare mark": () => loop.each(names, "PATCH", bareMark),
    "bare release": () => loop.each(names, "PATCH", bareRelease),
    mark: (hold) => nodes.mark("cluster", hold, far),
    release: (hold) => nodes.release(hold, far),
  });
  await close();
  return { nodes: names.length, ...times };
}

/** Each work in its turn, again and again, so that a slow moment hits all alike; the medians. */
async function inRounds<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, (hold: string) => Promise<unknown>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(works) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) times[name].push(await timed(() => works[name](`bench-${round}`)));
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<Name, number>;
}

type Tried = Readonly<{ hands: number; time: number }>;

const bothWays = (loop: BareLoop, names: readonly string[]) => async () => {
  await loop.each(names, "PATCH", bareMark);
  await loop.each(names, "PATCH", bareRelease);
};

/** The bare loop with more and more requests in flight, the fastest first. */
async function tryHands(
  plane: ControlPlane,
  { rounds }: Plan,
  names: readonly string[],
): Promise<readonly Tried[]> {
  const loops = [4, 8, 16, 32, 64].map((hands) => new BareLoop(doorOf(plane, "holder"), hands));
  const works = Object.fromEntries(loops.map((loop) => [loop.hands, bothWays(loop, names)]));
  const times = await inRounds(rounds, works);
  for (const loop of loops) loop.close();
  return Object.entries(times)
    .map(([hands, time]) => ({ hands: Number(hands), time }))
    .toSorted((a, b) => a.time - b.time);
}

const handsFigure = (tried: readonly Tried[]): Figure => ({
  what: "requests in flight at which the bare loop is fastest; it has so many above",
  value: `${tried[0]?.hands}`,
  beside: tried.map(({ hands, time }) => `${hands}: ${ms(time)}`).join("; "),
});

/** The same patches as an administrator, whom neither RBAC nor our policy concerns. */
async function policyCost(
  plane: ControlPlane,
  { rounds }: Plan,
  hands: number,
  names: readonly string[],
): Promise<Figure> {
  const loops = {
    admin: new BareLoop(doorOf(plane, "admin"), hands),
    holder: new BareLoop(doorOf(plane, "holder"), hands),
  };
  const { admin, holder } = await inRounds(rounds, {
    admin: bothWays(loops.admin, names),
    holder: bothWays(loops.holder, names),
  });
  for (const loop of Object.values(loops)) loop.close();
  const each = (time: number) => `${Math.round((time / names.length / 2) * 1000)} µs a patch`;
  return {
    what: `${count(2 * names.length)} bare patches as the holder, under its RBAC and admission policy`,
    value: `${ms(holder)}, ${each(holder)}`,
    beside: `as an administrator, whom neither concerns: ${ms(admin)}, ${each(admin)}`,
  };
}

function figuresOf(times: Times, { told }: Plan): Figure[] {
  return (["mark", "release"] as const).map((what) => {
    const own = times[what];
    const bare = times[`bare ${what}`];
    const share = Math.round((bare / own) * 100);
    return {
      what: `${what} ${count(times.nodes)} nodes`,
      value: `${ms(own)}, ${rate(times.nodes, own)}: ${share} % of the bare loop's rate`,
      beside: `bare PATCH loop ${ms(bare)}; client-go's default limits ${ms(clientGo(times.nodes))} (computed)`,
      goal: "≥ 80 %",
      reached: share >= 80,
      ...(times.nodes === told[0] && { answers: `${what} ${count(times.nodes)} nodes, real kube-apiserver` }),
    };
  });
}

function plotOf(all: readonly Times[], { rounds }: Plan): Plot {
  const line = (name: string, work: Work) => ({
    name,
    points: all.map((times) => [times.nodes, Math.round(times[work])] as const),
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
