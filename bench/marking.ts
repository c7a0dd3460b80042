import { ControlPlane } from "../test/real/control-plane.ts";
import { type Bench, type Figure, median, ms, rate, timed } from "./figure.ts";
import { BareLoop, createNodes, holderNodes, nodeNames } from "./nodes-on-plane.ts";

const rounds = 5;
/** client-go's default, which the first node holder used: five requests a second after a burst of ten. */
const clientGo = (requests: number) => ((requests - 10) / 5) * 1000;

/** Marks and releases all nodes of a real kube-apiserver, in turns with a bare loop that sends as many patches. */
export const marking: Bench = {
  name: "marking",
  title: "Marking and releasing, on a real kube-apiserver",
  axis: { label: "time, the median of five", unit: "ms" },
  async run() {
    const plane = await ControlPlane.start();
    try {
      const figures: Figure[] = [];
      for (const count of [1_000, 5_000]) figures.push(...(await measure(plane, count)));
      return figures;
    } finally {
      await plane.stop();
    }
  },
};

async function measure(plane: ControlPlane, count: number): Promise<Figure[]> {
  const loop = new BareLoop(plane, 16);
  const { nodes, close } = holderNodes(plane);
  const names = nodeNames(count);
  const missing = names.slice(
    (await plane.kubectl(["get", "nodes", "-o", "name"])).split("\n").filter(Boolean).length,
  );
  await createNodes(loop, missing);
  const far = new Date(Date.now() + 3_600_000);
  const times: { bare: number[]; mark: number[]; release: number[] } = { bare: [], mark: [], release: [] };
  for (let round = 0; round < rounds; round++) {
    const bare = (name: string) => [
      { op: "add", path: "/metadata/annotations/bench", value: `${name} ${round}` },
    ];
    times.bare.push(await timed(() => loop.each(names, "PATCH", bare)));
    times.mark.push(await timed(() => nodes.mark("cluster", `bench-${count}-${round}`, far)));
    times.release.push(await timed(() => nodes.release(`bench-${count}-${round}`, far)));
  }
  await close();
  loop.close();
  const bare = median(times.bare);
  return (["mark", "release"] as const).map((what) => {
    const own = median(times[what]);
    const group = `${count.toLocaleString("en")} nodes`;
    const share = Math.round((bare / own) * 100);
    return {
      what: `${what} ${count.toLocaleString("en")} nodes`,
      value: `${ms(own)}, ${rate(count, own)}`,
      beside: `bare PATCH loop ${ms(bare)}; client-go's default limits ${ms(clientGo(count))} (computed)`,
      goal: "≥ 80 % of the bare loop's rate",
      reached: share >= 80,
      bars: [
        ...(what === "mark" ? [{ group, series: "bare PATCH loop", value: Math.round(bare) }] : []),
        { group, series: what, value: Math.round(own) },
      ],
    };
  });
}
