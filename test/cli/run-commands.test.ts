import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { newFolder } from "../support/new-folder.ts";
import { typed } from "../support/typed.ts";
import { aCluster, start } from "./run-at-work.ts";

let data: string;
beforeEach(() => {
  data = newFolder();
});

/** Types a command as an operator on the machine of `run`. A name in the environment is for deployed holders. */
const type = (...words: string[]) =>
  typed(words, { XDG_DATA_HOME: data, KARPENTER_NODE_HOLDER_CLUSTER: "other" });

describe("commands with --run", () => {
  it("hold, show, release, pause and resume as with a deployed holder", async (test) => {
    const { folder, held } = await start(test, data);
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
    expect(paused.output).toMatch(
      /^Paused until .+, or until `npx karpenter-node-holder resume --run .+`\.$/m,
    );
    const refused = await type("hold", "--run", folder, "--reason", "test");
    expect(refused.exit).toBe(1);
    expect(refused.reported).toMatch(/^error: .*paused by hand until .*\nNothing was changed\.$/);
    expect((await type("resume", "--run", folder)).output).toContain("Resumed cluster");

    const { holds } = JSON.parse((await type("history", "--run", folder, "-o", "json")).output);
    expect(holds).toMatchObject([{ scope: "cluster", nodes: 1, requests: ["test", "more"] }]);
  });

  it("find the only run at work without its folder, and ask which where there are more", async (test) => {
    const { folder, stop } = await start(test, data);
    expect((await type("status", "--run")).output).toMatch(/^prod /);

    const other = await start(test, data, "staging");
    const { exit, reported } = await type("status", "--run");
    expect(exit).toBe(1);
    expect(reported).toBe(
      `error: more than one \`run\` is at work on this machine\nName one: --run ${folder}, or --run ${other.folder}.`,
    );
    await stop();
    expect((await type("status", "--run")).output).toMatch(/^staging /);
  });

  it("say what to do where no run is at work", async (test) => {
    const { stop } = await start(test, data);
    await stop();
    const none = await type("status", "--run");
    expect(none.reported).toMatch(/^error: no `run` is at work .*\nStart it, /);
  });
});

describe("commands with --kubeconfig", () => {
  it("reach the run of that cluster among several, whatever the cluster is called there", async (test) => {
    const prod = await start(test, data);
    const staging = await start(test, data, "staging");
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
      expect.stringMatching(/error: 1 node could not be changed\nThey stay held until that works, /),
    ]);
    const unfit = await type("release", "--force", "--kubeconfig", file, "--scope", "cluster");
    expect([unfit.exit, unfit.reported]).toEqual([2, expect.stringContaining("cannot be used with")]);
  });

  it("removes marks under the annotation that it is given, where nothing else shows that they are the holder's", async (test) => {
    const cluster = await aCluster(test);
    const file = join(data, "kubeconfig");
    writeFileSync(file, cluster.kubeconfig());
    cluster.editNode("a", { labels: { [holdLabel]: holdId(1) } }, holderName);
    cluster.editNode("a", { annotations: { "example.com/stay": "true" } }, "ancient-changes");
    const release = ["release", "--force", "--kubeconfig", file];
    expect((await type(...release)).reported).toContain("again with --hold-annotation example.com/stay");
    const named = ["--hold-annotation", "example.com/stay"];
    const elsewhere = await type("release", "--force", ...named);
    expect([elsewhere.exit, elsewhere.reported]).toEqual([
      2,
      expect.stringContaining("--hold-annotation needs --kubeconfig"),
    ]);
    const { output } = await type(...release, ...named);
    expect(output).toBe("Nodes released: 1 (by their marks alone).");
    expect(cluster.annotationHistory("a", "example.com/stay").at(-1)).toBeUndefined();
  });
});
