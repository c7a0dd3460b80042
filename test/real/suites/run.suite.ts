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
import { patience } from "../engines/processes.ts";
import { HolderProcess } from "../worlds/holder-process.ts";

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;
const atWork = "the holder is at work";
const stayHeld = "nodes stay held until the holder runs again";

// A process starts three times as fast from the bundle as from the sources.
const dist = mkdtempSync(join(tmpdir(), "command-line-"));
beforeAll(() => buildCommandLine(dist));
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
const soon = { timeout: patience, interval: 20 };

// Together, because they mostly wait.
describe.concurrent("the command run", () => {
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
    expect(performance.now() - asked).toBeLessThan(50_000);
    expect(holder.errors).toMatch(/did not end within 8s.*\n.*run --kubeconfig \S+ .*--release-only/);
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
