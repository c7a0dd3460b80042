import { statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { folderOf } from "../../cli/control/running.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { readSettings } from "../../lambda/settings.ts";
import { version } from "../../lambda/version.ts";
import { startRun } from "../../local/run/run.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { newFolder } from "../support/new-folder.ts";
import { typed } from "../support/typed.ts";

const { poolLabel, registeredLabel } = Karpenter.v1;

let data: string;
beforeEach(() => {
  data = newFolder();
});

/** A cluster with one old node. */
async function aCluster(test: TestContext) {
  const server = await FakeKubernetesServer.start();
  test.onTestFinished(() => server.stop());
  const labels = { [poolLabel]: "default", [registeredLabel]: "true" };
  server.addNode({ name: "a", labels, providerId: "kwok://a", joinedAt: new Date(0) });
  return server;
}

/** A `run` of a cluster with one old node, in the default folder of the cluster's address, and a kubeconfig for it. */
async function start(test: TestContext, cluster = "prod") {
  const server = await aCluster(test);
  const file = join(data, `${cluster}.yaml`);
  writeFileSync(file, server.kubeconfig());
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig());
  const address = config.getCurrentCluster()?.server ?? "";
  const folder = folderOf(cluster, address, { XDG_DATA_HOME: data });
  const settings = readSettings({ cluster });
  const running = await startRun({ settings, config, folder, log: new CollectedLog() });
  let stopped: Promise<unknown> | undefined;
  const stop = () => (stopped ??= running.stop());
  test.onTestFinished(async () => void (await stop()));
  const held = () => server.nodes().map((node) => parseNode(node).labels?.[holdLabel] !== undefined);
  return { folder, held, stop, file, context: config.getCurrentContext() };
}

/** Types a command as an operator on the machine of `run`. A name in the environment is for deployed holders. */
const type = (...words: string[]) =>
  typed(words, { XDG_DATA_HOME: data, KARPENTER_NODE_HOLDER_CLUSTER: "other" });

describe("commands with --run", () => {
  it("hold, show, release, pause and resume as with a deployed holder", async (test) => {
    const { folder, held } = await start(test);
    await type("hold", "--run", folder, "--reason", "test", "--for", "45m");
    expect(held()).toEqual([true]);
    expect((statSync(folder).mode & 0o777).toString(8)).toBe("700");
    await type("hold", "--run", folder, "--name", "b", "--reason", "more", "--for", "20m");
    expect((await type("status", "--run", folder, "-o", "wide")).output).toMatch(
      /^prod .*cluster +held .*by-hand .* test\nb .* more\n.*Nodes held in cluster: a\./s,
    );

    await type("release", "--run", folder, "--name", "by-hand");
    const unknown = await type("release", "--run", folder, "--name", "by-hnad");
    expect([unknown.exit, unknown.reported]).toEqual([
      1,
      expect.stringContaining("requests: b\nNothing was"),
    ]);
    expect(held()).toEqual([true]);
    await type("release", "--run", folder, "--force", "--scope", "cluster");
    expect(held()).toEqual([false]);

    const paused = await type("pause", "--run", folder);
    expect(paused.output).toMatch(/^Paused until .+, or until `resume --run .+`\.$/m);
    const refused = await type("hold", "--run", folder, "--reason", "test");
    expect(refused.exit).toBe(1);
    expect(refused.reported).toMatch(/^error: .*paused by hand until .*\nNothing was changed\.$/);
    expect((await type("resume", "--run", folder)).output).toContain("Resumed cluster");

    const { holds } = JSON.parse((await type("history", "--run", folder, "-o", "json")).output);
    expect(holds).toMatchObject([{ scope: "cluster", nodes: 1, requests: ["test", "more"] }]);
  });

  it("find the only run at work without its folder, and ask which where there are more", async (test) => {
    const { folder, stop } = await start(test);
    expect((await type("status", "--run")).output).toMatch(/^prod /);

    const other = await start(test, "staging");
    const { exit, reported } = await type("status", "--run");
    expect(exit).toBe(1);
    expect(reported).toBe(
      `error: more than one \`run\` is at work on this machine\nName one: --run ${folder}, or --run ${other.folder}.`,
    );
    await stop();
    expect((await type("status", "--run")).output).toMatch(/^staging /);
  });

  it("say what to do where no run is at work", async (test) => {
    const { folder, stop } = await start(test);
    await stop();
    const stopped = await type("status", "--run", folder);
    expect(stopped.exit).toBe(1);
    expect(stopped.reported).toMatch(
      /^error: no `run` is at work with the data folder \S+\nStart it, .*--release-only/,
    );
    const none = await type("status", "--run");
    expect(none.reported).toMatch(/^error: no `run` is at work .*\nStart it, /);
  });
});

describe("commands with --kubeconfig", () => {
  it("reach the run of that cluster among several, whatever the cluster is called there", async (test) => {
    const prod = await start(test);
    const staging = await start(test, "staging");
    const { file, context } = staging;
    expect((await type("status", "--kubeconfig", prod.file)).output).toMatch(/^prod /);
    expect((await type("status", "--kubeconfig", file, "--context", context)).output).toMatch(/^staging /);
    for (const words of [["pause"], ["resume"], ["hold", "--reason", "x"], ["wait", "--for", "held"]])
      expect((await type(...words, "--kubeconfig", file)).exit).toBe(0);
    expect((await type("history", "--kubeconfig", file)).exit).toBe(0);
    expect((await type("status", "--kubeconfig", prod.file, "--exit-code")).exit).toBe(3);

    await staging.stop();
    const { exit, reported } = await type("status", "--kubeconfig", file);
    expect([exit, reported]).toEqual([
      1,
      expect.stringMatching(
        /^error: no `run` is at work on https?:\S+ with.+\n.+ is deployed .+ --cluster\.$/,
      ),
    ]);
  });
});

describe("release --force --kubeconfig", () => {
  it("removes every mark, where no holder is left to ask", async (test) => {
    const cluster = await aCluster(test);
    const file = join(data, "kubeconfig");
    writeFileSync(file, cluster.kubeconfig());
    cluster.editNode("a", { labels: { [holdLabel]: holdId(1) } }, holderName);
    cluster.editNode("a", { annotations: { [Karpenter.v1.annotation]: "true" } }, holderName);
    const { exit, output, reported } = await type("release", "--force", "--kubeconfig", file);
    expect([exit, output]).toEqual([0, "Nodes released: 1 (by their marks alone)."]);
    expect(reported).toMatch(/^Removing every mark in http:\S+ A holder at work marks nodes again\.$/);
    expect(cluster.annotationHistory("a", Karpenter.v1.annotation).at(-1)).toBeUndefined();

    cluster.editNode("a", { labels: { [holdLabel]: holdId(1) } }, holderName);
    cluster.fail({ kind: "status", status: 403 }, { method: "PATCH" });
    const failed = await type("release", "--force", "--kubeconfig", file, "--context", "fake");
    expect([failed.exit, failed.reported]).toEqual([
      1,
      expect.stringMatching(/error: 1 nodes could not be changed\nThey stay held until that works, /),
    ]);
    const unfit = await type("release", "--force", "--kubeconfig", file, "--scope", "cluster");
    expect([unfit.exit, unfit.reported]).toEqual([2, expect.stringContaining("cannot be used with")]);
  });
});

describe("run", () => {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  const listeners = signals.map((signal) => process.listeners(signal));
  afterEach(() => {
    vi.restoreAllMocks();
    for (const [i, signal] of signals.entries())
      for (const one of process.listeners(signal)) if (!listeners[i]?.includes(one)) process.off(signal, one);
  });

  type Kubeconfig = Promise<Pick<FakeKubernetesServer, "kubeconfig">>;
  /** Types `run`; once it is at work, gets what it serves, and stops it by a signal and a second one. */
  async function run(
    test: TestContext,
    flags: string,
    signal?: NodeJS.Signals,
    cluster: Kubeconfig = aCluster(test),
  ) {
    const file = join(data, "kubeconfig");
    writeFileSync(file, (await cluster).kubeconfig());
    const exit = vi
      .spyOn(process, "exit")
      .mockReturnValue(undefined as never)
      .mockClear();
    const terminal = new CollectedTerminal({ XDG_DATA_HOME: data, KUBECONFIG: file });
    const ended = commandLine(["run", ...flags.split(" ")], terminal);
    const served: string[] = [];
    if (signal) {
      await expect.poll(() => terminal.output, { timeout: 60_000 }).toContain("is at work");
      for (const [url] of terminal.output.matchAll(/http:\S+\/(metrics)?(?=\n)/g))
        served.push(await (await fetch(url)).text());
      for (const _ of [1, 2]) process.emit(signal);
    }
    const code = await ended;
    const printed = [`$ run ${flags}`, terminal.output, terminal.reported, `(${code}; ${exit.mock.calls})`];
    return { served, printed: printed.join("\n") };
  }

  it.for(["SIGINT", "SIGHUP"] as const)("ends by %s, as by SIGTERM", async (signal, test) => {
    const { printed } = await run(test, "--release-on-exit", signal);
    expect(printed).toContain(`because=${signal}\n`);
    expect(printed).toMatch(/reason="the holder was stopped".*\(0; 1\)$/s);
  });

  it.for([
    ["", 8],
    ["--release-on-exit", 180],
  ] as const)(
    "that is stopped %s while it fails to start has %i seconds, and does not wait for their end",
    async ([flags, seconds], test) => {
      const cluster = await aCluster(test);
      cluster.serve("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", () => {
        process.emit("SIGTERM");
        return { status: { allowed: false } };
      });
      const [begun, ended] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
      await run(test, `--log json ${flags}`.trim(), undefined, Promise.resolve(cluster));
      const limits = begun.mock.results.filter((_, i) => begun.mock.calls[i]?.[1] === seconds * 1_000);
      expect(limits).toHaveLength(1);
      expect(ended.mock.calls.flat()).toContain(limits[0]?.value);
    },
  );

  it("is refused beside another on the same folder, without a word of nodes that nobody releases", async (test) => {
    const { folder } = await start(test);
    const { printed } = await run(test, `--data ${folder}`);
    expect(printed).toMatch(
      /error: another run is at work with the record .*record\.sqlite\nStop that one first, .*--data\.\n\(1; \)$/,
    );
    expect(printed).not.toContain("may stay held");
  });

  it("prints commands for its own cluster and record, whichever context and folder they are typed in", async (test) => {
    const folder = join(data, "record");
    const { printed } = await run(test, `--observe --data ${relative(".", folder)}`, "SIGTERM");
    expect(printed).toContain(`run --context fake --data ${folder} --release-only`);
    expect(printed).toContain(`toHold="karpenter-node-holder run --context fake --data ${folder}"`);
    expect(printed).toContain(`operate="karpenter-node-holder status --run ${folder}"`);
  });

  it("prints a command for another machine where it works in a Pod", async (test) => {
    const inPod = (await aCluster(test)).kubeconfig().replaceAll('"fake"', '"in-cluster"');
    const cluster = Promise.resolve({ kubeconfig: () => inPod });
    const { printed } = await run(test, "--data /dev/null", undefined, cluster);
    expect(printed).toContain('release="karpenter-node-holder run --kubeconfig FILE --release-only"');
  });

  // A change is accepted with `npx vitest run test/cli/run-commands --update`, and read in the diff.
  it("logs what was reviewed, serves what it is asked for, and ends when it is asked to", async (test) => {
    const { port } = new URL((await aCluster(test)).server);
    const all = await run(test, "--hold 20m --page --metrics-port 0 --release-on-exit", "SIGTERM");
    expect(all.served.map((text) => /The holder of fake|karpenter_node_holder/.exec(text)?.[0])).toEqual([
      "The holder of fake",
      "karpenter_node_holder",
    ]);
    const others = ["--release-only --log json", `--page ${port}`, `--metrics-port ${port}`];
    const noFolder = `--data ${join(data, "kubeconfig")}`;
    const printed = [all.printed];
    for (const flags of [...others, noFolder]) printed.push((await run(test, flags)).printed);
    const text = printed.join("\n\n").replaceAll(data, "DATA").replaceAll(version, "VERSION");
    const timeless = text.replaceAll(/\b[\dT:.-]+Z\b/g, "TIME").replaceAll(/[:-][0-9a-f]{8}\b/g, "-HASH");
    await expect(timeless.replaceAll(/([: ])\d{4,5}\b(\/[0-9a-f-]{36})?/g, "$1PORT")).toMatchFileSnapshot(
      "printed/run.txt",
    );
  });
});
