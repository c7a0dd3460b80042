import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { BareLoop } from "./bare-loop.ts";
import { type Bench, count, type Figure, type Size } from "./figure.ts";
import type { LookCost } from "./look-once.ts";
import { apiServerOf, createNodes, nodeNames } from "./nodes-on-plane.ts";
import { createClaims, createPods } from "./pods-on-plane.ts";

const sizes: Readonly<Record<Size, number>> = { whole: 5_000, quick: 50 };
const podsOfEach = 10;
const most = { seconds: 30, megabytes: 512 };

/** What `hold=auto` reads and decides once a minute, on a cluster of thousands of nodes. */
export const look: Bench = {
  name: "look",
  title: "A look of hold=auto, on a real kube-apiserver",
  seconds: 240,
  async run(size, advance) {
    const plane = await ControlPlane.start();
    const admin = new BareLoop(apiServerOf(plane.config("admin")), 16);
    try {
      const names = nodeNames(sizes[size]);
      await createNodes(admin, names);
      advance(0.1, "NodeClaims");
      await createClaims(plane, admin, names);
      advance(0.2, "pods");
      await createPods(admin, names, podsOfEach);
      advance(0.9, "the look");
      const plain = await costOf(plane, "identity");
      return figuresOf(await costOf(plane, "gzip"), plain);
    } finally {
      admin.close();
      await plane.stop();
    }
  },
};

/** Lambda limits the heap of a function of 512 MB, so that garbage does not pile up. */
const heap = "--max-old-space-size=384";

/** In a process of its own, whose memory is that of a function. */
async function costOf(plane: ControlPlane, encoding: string): Promise<LookCost> {
  const script = join(import.meta.dirname, "look-once.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [
    heap,
    script,
    plane.kubeconfig("admin"),
    encoding,
  ]);
  return JSON.parse(stdout);
}

function figuresOf(own: LookCost, plain: LookCost): readonly Figure[] {
  const { nodes, pods, seconds, megabytes } = own;
  const size = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    {
      what: `a look of hold=auto at ${count(nodes)} nodes and ${count(pods)} pods`,
      value: `${seconds.toFixed(1)} s, ${Math.round(megabytes)} MB of memory`,
      goal: `≤ ${most.seconds} s, ≤ ${most.megabytes} MB`,
      reached: seconds <= most.seconds && megabytes <= most.megabytes,
    },
    {
      what: "– of it, from the API server",
      value: size(own.bytes),
      beside: `${size(plain.bytes)} without compression, ${plain.seconds.toFixed(1)} s`,
    },
  ];
}
