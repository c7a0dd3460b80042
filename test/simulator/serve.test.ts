import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { type Served, serve } from "../../simulator/serve/serve.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

describe("npm start -- --serve", () => {
  let terminal: CollectedTerminal;
  const log = new CollectedLog();
  let served: Served;
  beforeEach(async () => {
    terminal = new CollectedTerminal();
    served = await serve({ hold: minutes(1), log }, terminal);
  });
  afterEach(() => served.stop());

  const heldNodes = () =>
    served.world.cluster
      .nodes()
      .map(parseNode)
      .filter(
        ({ labels, annotations }) => labels?.[holdLabel] && annotations?.[Karpenter.v1.annotation] === "true",
      );

  it("holds its nodes and writes a kubeconfig that opens their cluster", async () => {
    await expect.poll(heldNodes, { timeout: 60_000 }).toHaveLength(3);
    const { server } = await kubeconfigLogin(readKubeconfig({ paths: [served.kubeconfig] })).access();
    const answer = await fetch(`${server}/api/v1/nodes`);
    expect(await answer.json()).toMatchObject({ kind: "NodeList", items: { length: 3 } });
    expect(terminal.output).toContain(`export KUBECONFIG=${served.kubeconfig}`);
  });

  it("prints commands that find it from another terminal", async () => {
    const typed = terminal.output.split("\n").flatMap((line) => {
      const [, words] = /^ {2}npx karpenter-node-holder (.*)$/.exec(line) ?? [];
      return words ? [words] : [];
    });
    const answers: string[] = [];
    for (const line of typed) {
      const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = ""]) => quoted ?? word);
      const other = new CollectedTerminal();
      expect([await commandLine(words, other), other.reported]).toEqual([0, ""]);
      answers.push(other.output);
    }
    expect(answers).toEqual([
      expect.stringMatching(/^stand-in {2}holds 1m after each launch/),
      expect.stringContaining("load test"),
      expect.stringContaining("eleased"),
      expect.stringContaining("What your NodePools allow"),
    ]);
  });

  it("shows advise its NodePool, its launches, and the empty nodes that Karpenter removed", async () => {
    served.world.ec2.addNode("empty");
    served.world.ec2.terminate("empty");
    const other = new CollectedTerminal();
    expect(await commandLine(["advise", "--kubeconfig", served.kubeconfig], other)).toBe(0);
    const rows = ["nodes launched        3", "nodes removed         1", "  empty               1"];
    for (const row of rows) expect(other.output).toContain(row);
    expect(other.output).toContain("default  WhenEmptyOrUnderutilized, consolidateAfter 10s");
  });

  it("shows the live timeline of its cluster on a page", async () => {
    expect(terminal.output).toContain(`The live timeline: ${served.url}`);
    const page = await (await fetch(served.url)).text();
    for (const node of ["anna", "bert", "cleo"]) expect(page).toContain(`>${node}</td>`);
  });

  it("leaves nothing behind when it is stopped", async () => {
    const again = await serve({ hold: minutes(1), log }, terminal);
    await again.stop();
    expect(existsSync(again.kubeconfig)).toBe(false);
    await expect(fetch(again.url)).rejects.toThrow();
    await expect(fetch(again.server)).rejects.toThrow();
  });
});
