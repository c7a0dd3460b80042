import { hours } from "../../lambda/core/duration.ts";
import { holdIdOf } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { NodeChange } from "../../lambda/core/ports.ts";
import { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { within } from "../../test/support/context.ts";
import { BareLoop } from "./bare-loop.ts";
import { type Bench, count, type Figure, median, ms, type Size } from "./figure.ts";
import { apiServerOf, createNodes, holderNodes, installRights, nodeNames } from "./nodes-on-plane.ts";

type Sized = Readonly<{ nodes: number; rounds: number }>;

const plans: Readonly<Record<Size, readonly Sized[]>> = {
  whole: [
    { nodes: 1_000, rounds: 5 },
    { nodes: 5_000, rounds: 3 },
  ],
  quick: [
    { nodes: 20, rounds: 1 },
    { nodes: 50, rounds: 1 },
  ],
};
/** On two cores the bare loop is fastest with this number; decision 5 has the figures. */
const bareInFlight = 8;
const goal = 90;

/** Marks and releases all nodes of a real kube-apiserver, in turns with a bare loop that sends as many patches. */
export const marking: Bench = {
  name: "marking",
  title: "Marking and releasing, on a real kube-apiserver",
  seconds: 240,
  async run(size, advance) {
    const plan = plans[size];
    const plane = await ControlPlane.start();
    const admin = new BareLoop(apiServerOf(plane.config("admin")), 16);
    const all = plan.reduce((sum, { nodes, rounds }) => sum + nodes * rounds, 0);
    let done = 0;
    try {
      const figures: Figure[] = [];
      let names: readonly string[] = [];
      // In a growing cluster, because the holder marks all nodes.
      for (const { nodes, rounds } of plan) {
        const more = nodeNames(nodes).slice(names.length);
        await createNodes(admin, more);
        if (names.length === 0) await installRights(plane);
        names = [...names, ...more];
        const measured = await measure(plane, { names, rounds }, () => {
          done += nodes;
          advance(done / all, `${count(nodes)} nodes`);
        });
        figures.push(...figuresOf(nodes, measured));
      }
      return figures;
    } finally {
      admin.close();
      await plane.stop();
    }
  },
};

/** The time that a task took, and the processor time of this process. */
type Cost = Readonly<{ time: number; cpu: number }>;
type Costs = Readonly<Record<"mark" | "release", Cost[]>>;
type Measured = Readonly<{ own: Costs; bare: Costs }>;

/** The policy admits no label but a hold's id. */
const holdOf = (round: number): string => holdIdOf(new Date(Date.UTC(2026, 0, 1, 0, round)), "abcdef");

const pathOf = (half: string, key: string) => `/metadata/${half}/${key.replace("/", "~1")}`;
const halves = [
  { path: pathOf("annotations", Karpenter.v1.annotation), value: "true" },
  { path: pathOf("labels", holdLabel), value: holdOf(0) },
];
const bareMark = () => halves.map((half) => ({ op: "add", ...half }));
const bareRelease = () => halves.map(({ path }) => ({ op: "remove", path }));

/** Both run in each round, in alternating order, so that a slow moment affects both alike. */
async function measure(
  plane: ControlPlane,
  { names, rounds }: Readonly<{ names: readonly string[]; rounds: number }>,
  onRound: () => void,
): Promise<Measured> {
  const { nodes, close } = holderNodes(plane);
  const loop = new BareLoop(apiServerOf(plane.config("holder")), bareInFlight);
  const own: Costs = { mark: [], release: [] };
  const bare: Costs = { mark: [], release: [] };
  const patient = () => within(hours(1));
  const changeAll = async (what: NodeChange["do"], holdId: string) => {
    const scope = "cluster";
    const listed = await (what === "mark" ? nodes.list(scope, patient()) : nodes.listMarked(patient()));
    const changes = listed.map((node): NodeChange => ({ do: what, node, holdId, scope }));
    const { marked, adopted, released } = await nodes.change(changes, patient());
    if (marked + adopted + released !== names.length) throw new Error(`not all nodes were changed: ${what}`);
  };
  const turns = [
    async (round: number) => {
      const holdId = holdOf(round);
      own.mark.push(await costOf(() => changeAll("mark", holdId)));
      own.release.push(await costOf(() => changeAll("release", holdId)));
    },
    async () => {
      bare.mark.push(await costOf(() => loop.each(names, "PATCH", bareMark)));
      bare.release.push(await costOf(() => loop.each(names, "PATCH", bareRelease)));
    },
  ];
  for (let round = 0; round < rounds; round++) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn(round);
    onRound();
  }
  loop.close();
  await close();
  return { own, bare };
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage();
  const began = performance.now();
  await work();
  const time = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { time, cpu: (user + system) / 1000 };
}

function figuresOf(nodes: number, { own, bare }: Measured): Figure[] {
  const timeOf = (costs: readonly Cost[]) => median(costs.map(({ time }) => time));
  const cpuOf = (costs: readonly Cost[]) =>
    `processor ${Math.round((median(costs.map(({ cpu }) => cpu)) / nodes) * 1000)} µs each`;
  return (["mark", "release"] as const).map((what) => {
    const shares = own[what].map(({ time }, round) => (bare[what][round]?.time ?? 0) / time);
    const share = Math.round(median(shares) * 100);
    const rate = count(Math.round((nodes * 1000) / timeOf(own[what])));
    return {
      what: `${what} ${count(nodes)} nodes`,
      value: `${ms(timeOf(own[what]))}, ${rate}/s: ${share} % of the bare loop's rate; ${cpuOf(own[what])}`,
      beside: `bare PATCH loop ${ms(timeOf(bare[what]))}, ${cpuOf(bare[what])}`,
      goal: `≥ ${goal} %`,
      reached: share >= goal,
    };
  });
}
