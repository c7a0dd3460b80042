import { hours } from "../../lambda/core/duration.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import type { KubernetesCall, KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { within } from "../../test/support/context.ts";
import { BareLoop } from "./bare-loop.ts";
import { type Bench, count, type Figure, type Plot, type Size } from "./figure.ts";
import { createNodes, doorOf, holderNodes, installRights, nodeNames } from "./nodes-on-plane.ts";

const plans: Readonly<Record<Size, readonly number[]>> = {
  whole: [100, 1_000, 10_000],
  quick: [10, 20, 50],
};

/** What one launch inside a hold costs in clusters of different sizes: it must not depend on the size. */
export const launchCost: Bench = {
  name: "launch-cost",
  title: "Kubernetes calls for one launch inside a hold",
  seconds: 40,
  async run(size, advance) {
    const sizes = plans[size];
    const plane = await ControlPlane.start();
    const loop = new BareLoop(doorOf(plane, "admin"), 16);
    try {
      const costs: Cost[] = [];
      const names = nodeNames(Math.max(...sizes) + 1);
      let there = 0;
      for (const nodes of sizes) {
        await createNodes(loop, names.slice(there, nodes));
        if (there === 0) await installRights(plane);
        there = nodes + 1;
        costs.push(await measure(plane, loop, nodes, names[nodes] ?? ""));
        advance(nodes / Math.max(...sizes), `${count(nodes)} nodes done`);
      }
      return {
        figures: costs.map(figureOf),
        plots: [callsPlot(costs), bytesPlot(costs)],
      };
    } finally {
      loop.close();
      await plane.stop();
    }
  },
};

/** The calls for one new node, their answers' bytes, and those of a list of the whole cluster. */
type Cost = Readonly<{ nodes: number; calls: readonly string[]; bytes: number; wholeList: number }>;

async function measure(plane: ControlPlane, loop: BareLoop, nodes: number, newNode: string): Promise<Cost> {
  const counting = new CountingCaller();
  const holder = holderNodes(plane, (api) => counting.around(api));
  const far = within(hours(1));
  await holder.nodes.mark({ scope: "cluster", holdId: "20260131t093000-bench0" }, far);
  await createNodes(loop, [newNode]);
  counting.calls.length = 0;
  const { marked } = await holder.nodes.mark({ scope: "cluster", holdId: "20260131t093000-bench0" }, far);
  await holder.close();
  if (marked !== 1) throw new Error(`one new node should have been marked, not ${marked}`);
  const wholeList = (await plane.kubectl(["get", "--raw", "/api/v1/nodes"])).length;
  const bytes = counting.calls.reduce((sum, call) => sum + call.bytes, 0);
  return { nodes, calls: counting.calls.map(({ method }) => method), bytes, wholeList };
}

const figureOf = ({ nodes, calls, bytes, wholeList }: Cost): Figure => ({
  what: `one new node among ${count(nodes)} held nodes`,
  value: `${calls.length} calls (${calls.join(", ")}), ${count(bytes)} bytes of answers`,
  beside: `a list of the whole cluster alone: ${count(wholeList)} bytes`,
  goal: "1 list, 1 patch",
  reached: calls.join() === "GET,PATCH",
});

const callsPlot = (costs: readonly Cost[]): Plot => ({
  name: "launch-calls",
  lines: {
    title: "Calls for one launch inside a hold",
    subtitle: "of a cluster whose other nodes are held already",
    x: { label: "nodes in the cluster" },
    y: { label: "calls to Kubernetes" },
    series: [{ name: "calls", points: costs.map(({ nodes, calls }) => [nodes, calls.length] as const) }],
  },
});

const bytesPlot = (costs: readonly Cost[]): Plot => ({
  name: "launch-bytes",
  lines: {
    title: "Bytes answered for one launch inside a hold",
    subtitle: "beside what a list of the whole cluster would be answered with",
    x: { label: "nodes in the cluster" },
    y: { label: "answers", unit: "kB" },
    series: [
      { name: "holder", points: costs.map(({ nodes, bytes }) => [nodes, bytes / 1000] as const) },
      {
        name: "a list of the whole cluster",
        points: costs.map(({ nodes, wholeList }) => [nodes, wholeList / 1000] as const),
      },
    ],
  },
});

/** Counts what goes by and how large the answers are as JSON. */
class CountingCaller {
  readonly calls: { method: string; bytes: number }[] = [];

  around(api: KubernetesCaller): KubernetesCaller {
    return {
      call: async (call: KubernetesCall, context: CallContext) => {
        const answer = await api.call(call, context);
        this.calls.push({ method: call.method, bytes: JSON.stringify(answer).length });
        return answer;
      },
    };
  }
}
