import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CoreV1Api, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { build } from "esbuild";
import { minutes } from "../../lambda/core/duration.ts";
import { forEachConcurrent } from "../../lambda/kubernetes/for-each-concurrent.ts";
import { inFlight } from "../../lambda/kubernetes/transport.ts";
import { ControlPlane } from "../../test/real/engines/control-plane.ts";
import { within } from "../../test/support/context.ts";
import { BareLoop } from "./bare-loop.ts";
import { type Bench, count, type Figure, ms, type Size } from "./figure.ts";
import { clientOf, createNodes, doorOf, nodeNames } from "./nodes-on-plane.ts";
import { costOf, cpu, inRounds } from "./rounds.ts";

const plans: Readonly<Record<Size, Readonly<{ rounds: number; nodes: number }>>> = {
  whole: { rounds: 5, nodes: 1_000 },
  quick: { rounds: 1, nodes: 20 },
};
const patch = [{ op: "add", path: "/metadata/labels/bench", value: "yes" }];
const jsonPatch = setHeaderOptions("Content-Type", PatchStrategy.JsonPatch);

/** What a patch costs, and what a function would carry, with our client and with client-node's generated one. */
export const kubernetesClients: Bench = {
  name: "clients",
  title: "Our client for Kubernetes beside client-node's generated one",
  seconds: 60,
  async run(size, advance) {
    const { rounds, nodes } = plans[size];
    const plane = await ControlPlane.start();
    const loop = new BareLoop(doorOf(plane, "admin"), inFlight);
    const own = clientOf(plane, "admin");
    const generated = plane.config("admin").makeApiClient(CoreV1Api);
    const names = nodeNames(nodes);
    const each = (act: (name: string) => Promise<unknown>) =>
      forEachConcurrent(iterate(names), inFlight, act);
    try {
      await createNodes(loop, names);
      const costs = await inRounds(
        rounds,
        [
          { bare: () => loop.each(names, "PATCH", () => patch) },
          { own: () => each((name) => own.call(patchOf(name), within(minutes(5)))) },
          { generated: () => each((name) => generated.patchNode({ name, body: patch }, jsonPatch)) },
        ],
        (round) => advance(round / rounds, `round ${round} of ${rounds}`),
      );
      const [bare, ours, theirs] = [costs.bare, costs.own, costs.generated].map(costOf);
      if (!bare || !ours || !theirs) throw new Error("a client was not measured");
      const reported = (cost: typeof bare) => `${ms(cost.time)}, ${cpu(cost, nodes)}`;
      const figure: Figure = {
        what: `${count(nodes)} patches with our client`,
        value: reported(ours),
        beside: `bare loop ${reported(bare)}; CoreV1Api of makeApiClient ${reported(theirs)}`,
      };
      return { figures: [figure, await sizes()] };
    } finally {
      loop.close();
      await own.close();
      await plane.stop();
    }
  },
};

const patchOf = (name: string) =>
  ({
    method: "PATCH",
    path: `/api/v1/nodes/${name}`,
    contentType: PatchStrategy.JsonPatch,
    body: patch,
  }) as const;

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function sizes(): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "clients-"));
  try {
    const ours = await sizeOf(
      join(folder, "own.mjs"),
      'export { KubernetesClient } from "./lambda/kubernetes/client.ts"',
    );
    const theirs = await sizeOf(
      join(folder, "generated.mjs"),
      'export { KubeConfig, CoreV1Api } from "@kubernetes/client-node"',
    );
    return {
      what: "our client, bundled and minified",
      value: ours,
      beside: `KubeConfig and CoreV1Api of client-node: ${theirs}`,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function sizeOf(outfile: string, contents: string): Promise<string> {
  await build({
    stdin: { contents, resolveDir: process.cwd() },
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    external: ["bufferutil", "utf-8-validate", "supports-color"],
    minify: true,
    logLevel: "error",
  });
  return `${count(Math.round(statSync(outfile).size / 1000))} kB`;
}
