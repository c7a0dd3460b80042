import { mkdtempSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it, type TestContext } from "vitest";
import { commandLine } from "../../../cli/command-line.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { parseNode } from "../../../lambda/kubernetes/node-objects.ts";
import { buildCommandLine } from "../../../scripts/package.ts";
import { FakeKubernetesServer } from "../../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { CollectedTerminal } from "../../support/collected-terminal.ts";
import { HolderProcess, type LogLine } from "../../support/holder-process.ts";

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;
const atWork = "the holder is at work";
const stayHeld = "nodes stay held until the holder runs again";

// A process starts three times as fast from the bundle as from the sources.
const dist = mkdtempSync(join(tmpdir(), "command-line-"));
beforeAll(() => buildCommandLine(dist), 180_000);
afterAll(() => rm(dist, { recursive: true }));

/** A cluster of its own for one test, and holders that are stopped with it. */
async function prepare(test: TestContext) {
  const started: HolderProcess[] = [];
  const cluster = await FakeKubernetesServer.start();
  const folder = await mkdtemp(join(tmpdir(), "run-"));
  test.onTestFinished(async () => {
    await Promise.all(started.map((holder) => holder.kill()));
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await writeFile(join(folder, "kubeconfig"), cluster.kubeconfig());
  const usual = ["--data", join(folder, "data"), "--hold", "1m"];
  const runWith = (env: Readonly<Record<string, string>>, flags: readonly string[] = usual) => {
    const holder = new HolderProcess(flags, env, join(dist, "cli", "main.js"));
    started.push(holder);
    return holder;
  };
  const run = (...flags: string[]) =>
    runWith({}, ["--kubeconfig", join(folder, "kubeconfig"), ...usual, ...flags]);
  const joins = (name: string) => {
    const labels = { [poolLabel]: "default", [registeredLabel]: "true" };
    cluster.addNode({ name, labels, providerId: `kwok://${name}` });
  };
  const held = () =>
    cluster
      .nodes()
      .map(parseNode)
      .filter(({ labels, annotations }) => labels?.[holdLabel] && annotations?.[annotation] === "true")
      .map(({ name }) => name);
  // Tests that run together each need the `expect` of their own.
  return { cluster, folder, run, runWith, joins, held, expect: test.expect };
}

// Some wait for half a minute, and all start processes: on a busy machine each takes its time.
const soon = { timeout: 60_000, interval: 20 };

// Together, because they mostly wait.
describe.concurrent("the command run", { timeout: 180_000 }, () => {
  it("continues its hold after SIGKILL, and marks nodes that joined meanwhile", async (test) => {
    const { cluster, run, joins, held, expect } = await prepare(test);
    const first = run("--hold", "10m");
    await first.until(atWork);
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    const { holdId } = await first.until("nodes changed");
    await first.kill();

    joins("late");
    run("--hold", "10m");
    await expect.poll(held, soon).toEqual(["a", "late"]);

    const marks = cluster.nodes().map((node) => parseNode(node).labels?.[holdLabel]);
    expect(marks).toEqual([holdId, holdId]);
    expect(cluster.annotationHistory("a", annotation)).toEqual([undefined, "true"]);
  });

  it("finds its cluster by KUBECONFIG, and names the command that shows its status; stopped, it says what stays held, until when, and what releases it", async (test) => {
    const { folder, runWith, joins, held, expect } = await prepare(test);
    const env = { KUBECONFIG: join(folder, "kubeconfig") };
    const holder = runWith(env);
    const { operate } = await holder.until(atWork);
    const terminal = new CollectedTerminal();
    expect(await commandLine(String(operate).split(" ").slice(1), terminal)).toBe(0);
    expect(terminal.output).toContain("holds 1m after each launch");
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    const { until } = await holder.until("planned");
    expect(await holder.stop()).toEqual({ code: 0, signal: null });
    expect(held()).toEqual(["a"]);
    const [left] = holder.logged(stayHeld);
    expect(left).toMatchObject({ nodes: 1, until });

    const releasing = runWith(env, String(left?.release).split(" ").slice(2));
    expect(await releasing.ended()).toEqual({ code: 0, signal: null });
    expect(held()).toEqual([]);
    expect(releasing.logged(stayHeld)).toEqual([]);
  });

  it("ends soon when it is asked to stop, though the cluster answers nothing more", async (test) => {
    const { cluster, run, joins, expect } = await prepare(test);
    const holder = run();
    await holder.until(atWork);
    cluster.fail({ kind: "hang" }, { method: "PATCH" }, 1_000);
    joins("a");
    await holder.until("planned");
    const asked = performance.now();
    await holder.stop();
    // The call under way alone would take a minute.
    expect(performance.now() - asked).toBeLessThan(30_000);
    expect(holder.errors).toMatch(/did not end within 8s.*\n.*run --kubeconfig \S+ .*--release-only/);
  });

  it("serves its page and its metrics on this machine", async (test) => {
    const { run, joins, held, expect } = await prepare(test);
    const holder = run("--page", "--metrics-port", "0", "--cluster", "prod");
    const page = await holder.until("the page is served");
    const metrics = await holder.until("metrics are served");
    expect(page.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(metrics.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    joins("shown");
    await expect.poll(held, soon).toEqual(["shown"]);
    const text = async ({ url }: LogLine) => (await fetch(String(url))).text();
    await expect.poll(() => text(page), soon).toContain("shown");
    for (const figure of ["holds_started_total", "nodes_held_total"])
      await expect
        .poll(() => text(metrics), soon)
        .toContain(`karpenter_node_holder_${figure}{cluster="prod"} 1\n`);

    expect(await holder.stop()).toEqual({ code: 0, signal: null });
  });

  it.for<readonly [why: string, flags: readonly string[], code: number, error: RegExp]>([
    ["its page cannot be served", ["--page", "PORT"], 1, /^error: the page .*EADDRINUSE.*\nChoose another/],
    ["its metrics cannot", ["--metrics-port", "PORT"], 1, /^error: metrics .*EADDRINUSE.*\nChoose another/],
    ["a flag needs another", ["--metrics-host", "127.0.0.1"], 2, /--metrics-host needs --metrics-port/],
    [
      "a setting cannot be used",
      ["--hold", "banana", "--scope", "x"],
      2,
      /--hold must be auto, or a duration from 1m to 24h, .*; --scope must/,
    ],
  ])("ends where %s, and says how to go on", async ([, flags, code, error], test) => {
    const { cluster, run, expect } = await prepare(test);
    const taken = new URL(cluster.server).port;
    const holder = run(...flags.map((flag) => flag.replace("PORT", taken)));
    expect(await holder.ended()).toEqual({ code, signal: null });
    expect(holder.errors).toMatch(error);
  });

  it("says what cannot be reached, and then what to check", async (test) => {
    const { cluster, run, expect } = await prepare(test);
    await cluster.stop();
    const holder = run();
    expect(await holder.ended()).toEqual({ code: 1, signal: null });
    expect(holder.errors).toMatch(
      /^error: the cluster at http\S+ cannot be reached: connect ECONNREFUSED \S+\nCheck the kubeconfig's server, and the network between\.\n$/,
    );
  });

  it("continues, and releases at its end, when the reader of its log has ended", async (test) => {
    const { run, joins, held, expect } = await prepare(test);
    const holder = run("--release-on-exit");
    await holder.until(atWork);
    holder.closeOutput();
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    expect(await holder.stop()).toEqual({ code: 0, signal: null });
    expect(held()).toEqual([]);
  });
});
