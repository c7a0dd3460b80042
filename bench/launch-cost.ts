import type { KubernetesCall, KubernetesCaller } from "../lambda/adapters/kubernetes-client.ts";
import { ControlPlane } from "../test/real/control-plane.ts";
import type { Bench, Figure } from "./figure.ts";
import { BareLoop, createNodes, holderNodes, nodeNames } from "./nodes-on-plane.ts";

/** What one launch inside a hold costs in clusters of different sizes: it must not depend on the size. */
export const launchCost: Bench = {
  name: "launch-cost",
  title: "Kubernetes calls for one launch inside a hold",
  axis: { label: "answers for one newcomer", unit: "bytes" },
  async run() {
    const plane = await ControlPlane.start();
    const loop = new BareLoop(plane, 16);
    try {
      const figures: Figure[] = [];
      const names = nodeNames(10_010);
      let there = 0;
      for (const count of [100, 1_000, 10_000]) {
        await createNodes(loop, names.slice(there, count));
        there = count + 1;
        figures.push(await measure(plane, loop, count, names[count] ?? ""));
      }
      return figures;
    } finally {
      loop.close();
      await plane.stop();
    }
  },
};

async function measure(
  plane: ControlPlane,
  loop: BareLoop,
  count: number,
  newcomer: string,
): Promise<Figure> {
  const counting = new CountingCaller();
  const { nodes, close } = holderNodes(plane, (api) => counting.around(api));
  const far = new Date(Date.now() + 3_600_000);
  await nodes.mark("cluster", "bench", far);
  await createNodes(loop, [newcomer]);
  counting.calls.length = 0;
  const { marked } = await nodes.mark("cluster", "bench", far);
  await close();
  if (marked !== 1) throw new Error(`one newcomer should have been marked, not ${marked}`);
  const bytes = counting.calls.reduce((sum, call) => sum + call.bytes, 0);
  const calls = counting.calls.map(({ method }) => method);
  return {
    what: `one newcomer among ${count.toLocaleString("en")} held nodes`,
    value: `${calls.length} calls (${calls.join(", ")}), ${bytes.toLocaleString("en")} bytes of answers`,
    goal: "1 list, 1 patch",
    reached: calls.join() === "GET,PATCH",
    bars: [{ group: `${count.toLocaleString("en")} nodes`, series: "bytes of answers", value: bytes }],
  };
}

/** Counts what goes by and how large the answers are as JSON. */
class CountingCaller {
  readonly calls: { method: string; bytes: number }[] = [];

  around(api: KubernetesCaller): KubernetesCaller {
    return {
      call: async (call: KubernetesCall, deadline: Date) => {
        const answer = await api.call(call, deadline);
        this.calls.push({ method: call.method, bytes: JSON.stringify(answer).length });
        return answer;
      },
    };
  }
}
