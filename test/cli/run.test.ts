import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { version } from "../../lambda/version.ts";
import type { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { newFolder } from "../support/new-folder.ts";
import { typed } from "../support/typed.ts";
import { aCluster, start } from "./run-at-work.ts";

let data: string;
beforeEach(() => {
  data = newFolder();
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
    const { folder } = await start(test, data);
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

  it("serves its page on any port with --page 0, as metrics with --metrics-port 0", async (test) => {
    const { served } = await run(test, "--page 0", "SIGTERM");
    expect(served).toEqual([expect.stringContaining("The holder of fake")]);
  });

  it("that observes is asked for the command that holds: its own, without --observe", async (test) => {
    vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    const file = join(data, "kubeconfig");
    writeFileSync(file, (await aCluster(test)).kubeconfig());
    const terminal = new CollectedTerminal({ XDG_DATA_HOME: data, KUBECONFIG: file });
    const ended = commandLine(["run", "--observe", "--hold", "20m"], terminal);
    await expect.poll(() => terminal.output, { timeout: 60_000 }).toContain("is at work");
    const { output } = await typed(["status", "--run"], { XDG_DATA_HOME: data });
    const inPod = await typed(["status", "--run"], {
      XDG_DATA_HOME: data,
      KUBERNETES_SERVICE_HOST: "10.0.0.1",
    });
    process.emit("SIGTERM");
    await ended;
    expect(output).toContain(
      "To hold from now on: stop `run`, then start it by karpenter-node-holder run --context fake --hold 20m.\n",
    );
    expect(inPod.output).toContain("To hold from now on: helm upgrade RELEASE CHART ");
  });

  it("prints a command for another machine where it works in a Pod", async (test) => {
    const inPod = (await aCluster(test)).kubeconfig().replaceAll('"fake"', '"in-cluster"');
    const cluster = Promise.resolve({ kubeconfig: () => inPod });
    const { printed } = await run(test, "--data /dev/null", undefined, cluster);
    expect(printed).toContain('release="karpenter-node-holder run --kubeconfig FILE --release-only"');
  });

  // A change is accepted with `npx vitest run test/cli/run.test --update`, and read in the diff.
  it("logs what was reviewed, serves what it is asked for, and ends when it is asked to", async (test) => {
    const cluster = await aCluster(test);
    cluster.serve("/apis/karpenter.sh/v1/nodeclaims", { metadata: {}, items: [] });
    const { port } = new URL(cluster.server);
    const flags = "--hold 20m --page --metrics-port 0 --release-on-exit";
    const all = await run(test, flags, "SIGTERM", Promise.resolve(cluster));
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
