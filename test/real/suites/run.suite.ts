import { mkdtempSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it, type TestContext } from "vitest";
import { commandLine } from "../../../cli/command-line.ts";
import { after, minutes, seconds } from "../../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { parseNode } from "../../../lambda/kubernetes/node-objects.ts";
import { buildCommandLine } from "../../../scripts/package.ts";
import { FakeKubernetesServer } from "../../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { CollectedTerminal } from "../../support/collected-terminal.ts";
import { HolderProcess } from "../../support/holder-process.ts";

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
  /** A node that joined so long ago; a hold of a minute has what is left of it. */
  const joins = (name: string, ago = 0) => {
    const labels = { [poolLabel]: "default", [registeredLabel]: "true" };
    cluster.addNode({ name, labels, providerId: `kwok://${name}`, joinedAt: after(new Date(), -ago) });
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
  it("counts a new node as a launch, holds all nodes and releases them at the expiry", async (test) => {
    const { cluster, run, joins, held, expect } = await prepare(test);
    joins("old", minutes(60));
    const holder = run();
    await holder.until(atWork);
    expect(held()).toEqual([]);

    joins("new", seconds(50));
    await expect.poll(held, soon).toEqual(["new", "old"]);
    await expect.poll(held, soon).toEqual([]);

    expect(await holder.until("hold closed")).toMatchObject({ nodes: 2, launches: 1 });
    expect(cluster.annotationHistory("old", annotation)).toEqual([undefined, "true", undefined]);
  });

  it("marks a later node at once, not with the next sweep", async (test) => {
    const { run, joins, held, expect } = await prepare(test);
    const holder = run();
    await holder.until(atWork);
    joins("first");
    await expect.poll(held, soon).toEqual(["first"]);
    joins("second");
    await expect.poll(held, soon).toEqual(["first", "second"]);
  });

  it("sees a node only after it has registered, and does not mark it when its template has the user's annotation", async (test) => {
    const { cluster, run, joins, held, expect } = await prepare(test);
    const holder = run("--release-on-exit");
    await holder.until(atWork);
    cluster.addNode({ name: "owners", labels: { [poolLabel]: "default" }, providerId: "kwok://owners" });
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    const registered = { [registeredLabel]: "true" };
    cluster.editNode("owners", { labels: registered, annotations: { [annotation]: "true" } });
    await holder.stop();

    expect(cluster.annotationHistory("owners", annotation)).toEqual([undefined, "true"]);
    expect(cluster.annotationHistory("a", annotation)).toEqual([undefined, "true", undefined]);
  });

  it("releases on time also after SIGKILL", async (test) => {
    const { cluster, run, joins, held, expect } = await prepare(test);
    const first = run();
    await first.until(atWork);
    joins("a", seconds(40));
    await expect.poll(held, soon).toEqual(["a"]);
    const { holdId } = await first.until("nodes marked");
    await first.kill();

    const second = run();
    await expect.poll(held, soon).toEqual([]);

    expect(await second.until("hold closed")).toMatchObject({ holdId });
    expect(cluster.annotationHistory("a", annotation)).toEqual([undefined, "true", undefined]);
  });

  it("continues its hold after SIGKILL, and marks nodes that joined meanwhile", async (test) => {
    const { cluster, run, joins, held, expect } = await prepare(test);
    const first = run("--hold", "10m");
    await first.until(atWork);
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    const { holdId } = await first.until("nodes marked");
    await first.kill();

    joins("late");
    run("--hold", "10m");
    await expect.poll(held, soon).toEqual(["a", "late"]);

    const marks = cluster.nodes().map((node) => parseNode(node).labels?.[holdLabel]);
    expect(marks).toEqual([holdId, holdId]);
    expect(cluster.annotationHistory("a", annotation)).toEqual([undefined, "true"]);
  });

  it("releases at its start what expired while it was stopped", async (test) => {
    const { run, joins, held, expect } = await prepare(test);
    const first = run();
    await first.until(atWork);
    joins("a", seconds(50));
    await expect.poll(held, soon).toEqual(["a"]);
    const { expiresAt } = await first.until("launch decided");
    await first.kill();
    await expect.poll(() => new Date() > new Date(String(expiresAt)), soon).toBe(true);
    expect(held()).toEqual(["a"]);

    const second = run();
    await second.until(atWork);
    expect(held()).toEqual([]);
  });

  it("finds its cluster by KUBECONFIG; stopped, it says what stays held, until when, and what releases it", async (test) => {
    const { folder, runWith, joins, held, expect } = await prepare(test);
    const env = { KUBECONFIG: join(folder, "kubeconfig") };
    const holder = runWith(env);
    await holder.until(atWork);
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    const { expiresAt } = await holder.until("launch decided");
    expect(await holder.stop()).toEqual({ code: 0, signal: null });
    expect(held()).toEqual(["a"]);
    const [left] = holder.logged(stayHeld);
    expect(left).toMatchObject({ nodes: 1, until: expiresAt });

    const releasing = runWith(env, String(left?.release).split(" ").slice(2));
    expect(await releasing.ended()).toEqual({ code: 0, signal: null });
    expect(held()).toEqual([]);
    expect(releasing.logged(stayHeld)).toEqual([]);
  });

  it("names the command that shows its status, and answers it until it ends", async (test) => {
    const { run, expect } = await prepare(test);
    const holder = run();
    const { operate } = await holder.until(atWork);
    const type = async () => {
      const terminal = new CollectedTerminal();
      const exit = await commandLine(String(operate).split(" ").slice(1), terminal);
      return { exit, text: terminal.output + terminal.reported };
    };
    expect(await type()).toEqual({ exit: 0, text: expect.stringContaining("holds 1m after each launch") });
    expect(await holder.stop()).toEqual({ code: 0, signal: null });
    expect(await type()).toEqual({ exit: 1, text: expect.stringContaining("no `run` is at work") });
  });

  it("ends soon when it is asked to stop, though the cluster answers nothing more", async (test) => {
    const { cluster, run, joins, expect } = await prepare(test);
    const holder = run();
    await holder.until(atWork);
    cluster.fail({ kind: "hang" }, { method: "PATCH" }, 1_000);
    joins("a");
    await holder.until("launch decided");
    const asked = performance.now();
    await holder.stop();
    // The call under way alone would take a minute.
    expect(performance.now() - asked).toBeLessThan(30_000);
    expect(holder.errors).toMatch(/did not end within 8s.*\n.*run --kubeconfig \S+ .*--release-only/);
  });

  it("shows what happens on a page of this machine", async (test) => {
    const { run, joins, held, expect } = await prepare(test);
    const holder = run("--page");
    const { url } = await holder.until("the page is served");
    joins("shown");
    await expect.poll(held, soon).toEqual(["shown"]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    await expect.poll(async () => (await fetch(String(url))).text(), soon).toContain("shown");

    expect(await holder.stop()).toEqual({ code: 0, signal: null });
  });

  it("serves its metrics on the port that is given", async (test) => {
    const { run, joins, held, expect } = await prepare(test);
    const holder = run("--metrics-port", "0", "--cluster", "prod");
    const { url } = await holder.until("metrics are served");
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const text = async () => (await fetch(String(url))).text();
    for (const figure of ["holds_started_total", "nodes_held_total"])
      await expect.poll(text, soon).toContain(`karpenter_node_holder_${figure}{cluster="prod"} 1\n`);

    expect(await holder.stop()).toEqual({ code: 0, signal: null });
  });

  it("ends where its page or its metrics cannot be served, and says how to go on", async (test) => {
    const { cluster, run, expect } = await prepare(test);
    const taken = new URL(cluster.server).port;
    const holder = run("--page", taken);
    expect(await holder.ended()).toEqual({ code: 1, signal: null });
    expect(holder.errors).toMatch(/^Failed: the page cannot be served: .*EADDRINUSE.*\nChoose another port/);
    const other = run("--metrics-port", taken);
    expect(await other.ended()).toEqual({ code: 1, signal: null });
    expect(other.errors).toMatch(/^Failed: metrics cannot be served: .*EADDRINUSE.*\nChoose another port/);
    const without = run("--metrics-host", "127.0.0.1");
    expect(await without.ended()).toEqual({ code: 2, signal: null });
    expect(without.errors).toContain("--metrics-host needs --metrics-port");
  });

  it("says what cannot be reached, and then what to check", async (test) => {
    const { cluster, run, expect } = await prepare(test);
    await cluster.stop();
    const holder = run();
    expect(await holder.ended()).toEqual({ code: 1, signal: null });
    expect(holder.errors).toMatch(
      /^Failed: the cluster at http\S+ cannot be reached: connect ECONNREFUSED \S+\nCheck the kubeconfig's server, and the network between\.\n$/,
    );
  });

  it("releases everything when it stops, if it was asked to, and does not begin again", async (test) => {
    const { run, joins, held, expect } = await prepare(test);
    const holder = run("--release-on-exit");
    await holder.until(atWork);
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    expect(await holder.stop()).toEqual({ code: 0, signal: null });
    expect(held()).toEqual([]);

    const again = run();
    await again.until(atWork);
    await again.until("launch decided");
    expect(held()).toEqual([]);
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

  it("fails when it could not release everything as requested", async (test) => {
    const { cluster, run, joins, held, expect } = await prepare(test);
    const holder = run("--release-on-exit");
    await holder.until(atWork);
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    cluster.fail({ kind: "status", status: 403 }, { method: "PATCH" }, 100);
    expect(await holder.stop()).toEqual({ code: 1, signal: null });
    expect(holder.errors).toContain("some still carry a mark of ours");
  });

  it("does not share its record with another holder", async (test) => {
    const { run, expect } = await prepare(test);
    await run().until(atWork);
    const second = run();
    expect(await second.ended()).toEqual({ code: 1, signal: null });
    expect(second.errors).toContain("another holder is using it");
    expect(second.errors).not.toContain("    at ");
  });

  it("removes its marks under a former annotation, and marks anew under the present one", async (test) => {
    const { cluster, run, joins, held, expect } = await prepare(test);
    const first = run();
    await first.until(atWork);
    joins("a");
    await expect.poll(held, soon).toEqual(["a"]);
    await first.stop();

    const second = run("--hold-annotation", "example.com/stay");
    await second.until(atWork);
    const annotations = () => cluster.nodes().map(parseNode)[0]?.annotations;
    await expect.poll(annotations, soon).toMatchObject({ "example.com/stay": "true" });
    expect(annotations()).not.toHaveProperty([annotation]);
  });

  it("reports every setting it cannot use by the name of its flag", async (test) => {
    const { run, expect } = await prepare(test);
    const holder = run("--hold", "banana", "--scope", "planet");
    expect(await holder.ended()).toEqual({ code: 2, signal: null });
    expect(holder.errors).toMatch(
      /--hold must be auto, or a duration .*; --scope must be cluster or nodepool/,
    );
  });
});
