import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { dataInPod } from "../../cli/manifest/in-cluster.ts";
import { manifestYaml } from "../../lambda/cluster-access/manifest-yaml.ts";
import { holderName, Karpenter } from "../../lambda/core/marks/keys.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

const manifest = async (...flags: string[]) => {
  const terminal = new CollectedTerminal();
  const exit = await commandLine(["manifest", ...flags], terminal);
  return { exit, output: terminal.output, reported: terminal.reported };
};
const verbs = (yaml: string) =>
  [...yaml.matchAll(/^ {6}- (get|list|patch|watch)$/gm)].map(([, verb]) => verb);

/** NodeClaims, and events in one namespace. */
const ofDemand = ["list", "list"];

describe("the command manifest", () => {
  it("prints what a deployment writes into its cluster", async () => {
    const { exit, output } = await manifest();
    expect(exit).toBe(0);
    expect(`${output}\n`).toBe(manifestYaml([Karpenter.v1.annotation]));
    expect(verbs(output)).toEqual(["get", "list", "patch", ...ofDemand]);
  });

  // A change is accepted with `npx vitest run test/cli/manifest --update`, and read in the diff.
  it("prints beside the rights what was reviewed to run it in a cluster", async () => {
    const { output } = await manifest(
      "--in-cluster",
      "--image",
      "IMAGE",
      "--cluster",
      "prod",
      "--hold",
      "30m",
    );
    const parts = output.split(/^---\n/m).filter((part) => !/^kind: .*(Role|Binding|Policy)$/m.test(part));
    await expect(parts.join("---\n")).toMatchFileSnapshot("printed/in-cluster.yaml");
  });

  it("lets run watch as well", async () => {
    const { output } = await manifest("--holder", "run");
    expect(verbs(output)).toEqual(["get", "list", "patch", "watch", ...ofDemand]);
  });

  it("lets it list pods with --let-go empty, also in the cluster", async () => {
    const inCluster = ["--in-cluster", "--image", "x", "--cluster", "prod"];
    for (const flags of [[], ["--holder", "run"], inCluster]) {
      expect((await manifest(...flags)).output).not.toMatch(/^ {6}- pods$/m);
      expect((await manifest(...flags, "--let-go", "empty")).output).toMatch(/^ {6}- pods$/m);
    }
  });

  it.each([
    [["--karpenter", "v0.31"], Karpenter["v0.31"].annotation],
    [["--hold-annotation", "example.com/stay"], "example.com/stay"],
  ])("allows the annotation that %j asks for, and no other", async (flags, annotation) => {
    const { output } = await manifest(...flags);
    expect(output).toContain(annotation);
    expect(output).not.toContain(Karpenter.v1.annotation);
  });

  it("prints with --in-cluster what runs it in the cluster, with these settings", async () => {
    const flags = ["--cluster", "prod", "--hold", "30m", "--node-pools", "!gpu"];
    const { exit, output } = await manifest("--in-cluster", "--image", "example.com/holder:1", ...flags);
    expect(exit).toBe(0);
    const objects = loadAll(output).map(Object);
    expect(objects.map(({ kind }) => kind)).toEqual([
      ...["Namespace", "ServiceAccount", "ClusterRole", "ValidatingAdmissionPolicy"],
      ...[
        "ValidatingAdmissionPolicyBinding",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "PersistentVolumeClaim",
        "Deployment",
      ],
    ]);
    const { template, ...spec } = objects.at(-1).spec;
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    expect(template.metadata.annotations).toBeUndefined();
    expect(template.spec.containers).toMatchObject([
      {
        image: "example.com/holder:1",
        args: expect.arrayContaining(["run", "--data", dataInPod, "--take-over", ...flags]),
        livenessProbe: { httpGet: { path: "/healthz", port: "metrics" } },
        readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } },
        securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      },
    ]);
  });

  it("gives with --in-cluster the rights that run has, to the service account alone", async () => {
    const { output } = await manifest("--in-cluster", "--image", "x", "--cluster", "prod");
    const isOfRights = (object: unknown) => /rbac|admission/.test(Object(object).apiVersion);
    const account = { kind: "ServiceAccount", name: holderName, namespace: holderName };
    const group = { kind: "Group", name: holderName, apiGroup: "rbac.authorization.k8s.io" };
    const rights = loadAll(output).filter(isOfRights);
    const ofGroup = loadAll((await manifest("--holder", "run")).output);
    const username = `request.userInfo.username == 'system:serviceaccount:${holderName}:${holderName}'`;
    const renamed = JSON.stringify(ofGroup)
      .replaceAll(JSON.stringify(group), JSON.stringify(account))
      .replaceAll(`'${holderName}' in request.userInfo.groups`, username);
    expect(rights).toEqual(JSON.parse(renamed));
    expect(output).not.toContain("kind: Group");
  });

  it.each([
    [["--in-cluster", "--cluster", "prod"], "--in-cluster needs --image"],
    [["--in-cluster", "--image", "x"], "--cluster is missing"],
    [["--in-cluster", "--image", "x", "--cluster", "prod", "--hold", "5y"], "--hold must be"],
    [["--hold", "5m"], "--hold needs --in-cluster"],
    [["--image", "x"], "--image needs --in-cluster"],
    [["--holder", "fun"], "Allowed choices are functions, run"],
  ])("rejects %j", async (flags, expected) => {
    const { exit, output, reported } = await manifest(...flags);
    expect({ exit, output }).toEqual({ exit: 2, output: "" });
    expect(reported).toContain(expected);
  });
});
