import { describe, expect, it } from "vitest";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { manifestYaml } from "../../local/run/manifest-yaml.ts";
import { typed } from "../support/typed.ts";

const manifest = (...flags: readonly string[]) => typed(["manifest", ...flags]);
const verbs = (yaml: string) =>
  [...yaml.matchAll(/^ {6}- (get|list|patch|watch|create|update)$/gm)].map(([, verb]) => verb);

/** The verbs of the rights to NodeClaims, pods and their budgets, and of that to the Lease of `run`. */
const ofOthers = ["list", "list", "list"];
const ofLease = ["create", "get", "update"];

describe("the command manifest", () => {
  it("prints what a deployment writes into its cluster", async () => {
    const { exit, output } = await manifest();
    expect(exit).toBe(0);
    expect(`${output}\n`).toBe(manifestYaml(Karpenter.v1.annotation, { auto: true }));
    expect(verbs(output)).toEqual(["get", "list", "patch", ...ofOthers]);
    const ofRun = await manifest("--holder", "run", "--mode", "observe");
    expect(verbs(ofRun.output)).toEqual(["get", "list", "watch", ...ofOthers, ...ofLease]);
  });

  const ofAuto = ["- nodes", "- nodeclaims", "- pods", "- poddisruptionbudgets"];
  const ofConstantHold = ["- nodes", "- nodeclaims"];
  const toRun = ["- leases", "- leases"];
  it.each([
    ["", ofAuto],
    ["--hold 20m", ofConstantHold],
    ["--holder run --hold 20m", [...ofConstantHold, ...toRun]],
    ["--karpenter v0.31", ofConstantHold],
    ["--node-events true --mode observe", ofAuto],
    ["--node-events true --holder run", [...ofAuto, "- events", ...toRun]],
  ])(
    "with %j gives rights to nodes and NodeClaims, for hold=auto to list pods and their budgets, to Events where asked, to run a Lease, and to nothing else",
    async (flags, expected) => {
      const { output } = await manifest(...flags.split(" ").filter(Boolean));
      const roles = output.split("---\n").filter((text) => /^kind: (Cluster)?Role$/m.test(text));
      const resources = roles.flatMap((text) => [...text.matchAll(/resources:\n((?: {6}- .+\n)+)/g)]);
      expect(resources.map(([, names]) => names?.trim())).toEqual(expected);
    },
  );

  it.each([
    [["--karpenter", "v0.31"], Karpenter["v0.31"].annotation],
    [["--hold-annotation", "example.com/stay"], "example.com/stay"],
  ])("allows the annotation that %j asks for, and no other", async (flags, annotation) => {
    const { output } = await manifest(...flags);
    expect(output).toContain(annotation);
    expect(output).not.toContain(Karpenter.v1.annotation);
  });
});
