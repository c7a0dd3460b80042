import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { CoreV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { Emulator } from "../emulator/emulator.ts";
import { PlainDeployment } from "../emulator/plain-deployment.ts";
import { Shell } from "../runner/shell.ts";

/** Node, annotation and whose mark it is, while nothing is held. */
const free = [
  ["a", undefined, "not ours"],
  ["own", "true", "not ours"],
];
/** All labels of ours but the user's `never`. */
const held = "'karpenter-node-holder/hold,karpenter-node-holder/hold!=never'";
const rights =
  "clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding karpenter-node-holder";

const { annotation: holdAnnotation, poolLabel, registeredLabel } = Karpenter.v1;

// The cases run in this order: each uses what the cases before it left.
describe("the operators' commands in the documents, run in a shell", () => {
  let emulator: Emulator;
  let core: CoreV1Api;
  let shell: Shell;

  beforeAll(async () => {
    emulator = await Emulator.start();
    const plane = await emulator.createCluster("prod");
    core = plane.config().makeApiClient(CoreV1Api);
    const home = join(emulator.folder, "home");
    mkdirSync(join(home, ".kube"), { recursive: true });
    copyFileSync(plane.kubeconfig(), join(home, ".kube/config"));
    shell = new Shell(emulator.folder, {
      ...emulator.env,
      HOME: home,
      // Answers to prompts, and a folder for the template outside of the repository.
      CDK_REQUIRE_APPROVAL: "never",
      CDK_FORCE: "true",
      CDK_OUTPUT: join(emulator.folder, "cdk.out"),
    });
    await addNode("a", {});
    await addNode("own", { [holdAnnotation]: "true" });
  });
  afterAll(async () => {
    await shell?.stop();
    await emulator?.stop();
  });

  const addNode = (name: string, annotations: Record<string, string>) =>
    core.createNode({
      body: {
        metadata: { name, annotations, labels: { [poolLabel]: "default", [registeredLabel]: "true" } },
      },
    });
  const marks = async () =>
    (await core.listNode()).items.map(({ metadata }) => [
      metadata?.name,
      metadata?.annotations?.[holdAnnotation],
      metadata?.labels?.[holdLabel] === undefined ? "not ours" : "ours",
    ]);

  const attempt = (command: string) => shell.try(command);
  const run = (command: string) => shell.run(command);
  const hold = () => run('npx karpenter-node-holder hold --reason "a test" --cluster prod');

  it("deploys", async () => {
    expect(await run("npx karpenter-node-holder --help")).toContain("doctor [options]");
    await run("npx cdk bootstrap -c cluster=prod");
    await run("npx cdk deploy -c cluster=prod -c alarms=none");
    expect(await run("npx karpenter-node-holder status --cluster prod")).toContain(
      "holds 20m after each launch, 2h at most",
    );
    await run("npx karpenter-node-holder doctor --fix --cluster prod");
    expect(await run("npx karpenter-node-holder doctor --cluster prod")).toMatch(/probe/);
  });

  it("shows which nodes are held, and releases them", async () => {
    await hold();
    expect(await run("kubectl get nodes -L karpenter-node-holder/hold")).toMatch(
      /^NAME .* HOLD\na .* \d{8}t\d{6}/,
    );
    expect(await run("npx karpenter-node-holder status --cluster prod")).toMatch(/cluster +held /);
    expect(await run("npx karpenter-node-holder release --force --cluster prod")).toContain(
      "Nodes released: 1",
    );
    expect(await marks()).toEqual(free);
  });

  it("removes marks by hand, and only ours", async () => {
    await hold();
    expect(await run(`kubectl annotate nodes -l ${held} karpenter.sh/do-not-disrupt-`)).toBe(
      "node/a annotated\n",
    );
    expect(await run(`kubectl label nodes -l ${held} karpenter-node-holder/hold-`)).toBe(
      "node/a unlabeled\n",
    );
    expect(await marks()).toEqual(free);
    expect(
      await run(
        "kubectl get nodes -l '!karpenter-node-holder/hold' -o custom-columns='NODE:.metadata.name,KEPT:.metadata.annotations.karpenter\\.sh/do-not-disrupt'",
      ),
    ).toMatch(/NODE +KEPT\na +<none>\nown +true/);
  });

  it("pauses and resumes", async () => {
    expect(
      await run('npx karpenter-node-holder pause --for 2h --reason "Ada replaces every node" --cluster prod'),
    ).toContain("Paused until");
    expect(await run("npx karpenter-node-holder resume --cluster prod")).toContain("Resumed cluster");
  });

  it("reads CloudTrail, which has no launch here", async () => {
    const { exit, errors } = await attempt("npx karpenter-node-holder advise --cluster prod");
    expect({ exit, errors }).toEqual({
      exit: 1,
      errors: expect.stringContaining("no launch of a Karpenter node"),
    });
  });

  it("deploys again with other settings", async () => {
    await run("npx cdk deploy -c cluster=prod -c alarms=none -c hold=30m -c maxHold=4h");
    expect(await run("npx karpenter-node-holder status --cluster prod")).toContain(
      "holds 30m after each launch, 4h at most",
    );
  });

  it("destroys, and leaves nothing behind", async () => {
    await hold();
    await run("npx cdk destroy -c cluster=prod");
    expect(await marks()).toEqual(free);
    const { errors } = await attempt(`kubectl delete ${rights}`);
    expect(errors).toContain('"karpenter-node-holder" not found');
  });

  it("deploys without the CDK, and deletes", async () => {
    await run("npm run build");
    const folder = join(emulator.folder, "template");
    const command = `npx karpenter-node-holder template --cluster prod --bucket assets --alarms none --hold 25m --out ${folder}`;
    expect(await run(command)).toContain("aws cloudformation deploy --stack-name karpenter-node-holder-prod");
    const plain = new PlainDeployment(emulator);
    await plain.upload(folder, "assets", "karpenter-node-holder/");
    await plain.create("karpenter-node-holder-prod", "assets", "karpenter-node-holder/template.json");
    expect(await run("npx karpenter-node-holder status --cluster prod")).toContain(
      "holds 25m after each launch",
    );
    await hold();
    expect(await marks()).toEqual([
      ["a", "true", "ours"],
      ["own", "true", "not ours"],
    ]);
    await plain.delete("karpenter-node-holder-prod");
    expect(await marks()).toEqual(free);
  });

  it("installs rights by hand, and removes them", async () => {
    expect(await run("npx karpenter-node-holder manifest")).toContain("kind: ValidatingAdmissionPolicy");
    const applied = await run("npx karpenter-node-holder manifest | kubectl apply -f -");
    expect(applied.match(/created/g)).toHaveLength(4);
    expect((await run(`kubectl delete ${rights}`)).match(/deleted/g)).toHaveLength(4);
  });

  it.each([
    "npx karpenter-node-holder run --kubeconfig ~/.kube/config --hold 20m",
    "npx karpenter-node-holder run --kubeconfig ~/.kube/config --release-on-exit",
  ])("runs without AWS: %s", async (command) => {
    const holder = shell.open(command);
    await holder.prints(/the holder is at work/);
    await holder.interrupt();
    // The exit code of an interrupted npx is not ours.
    expect(holder.output.trim().split("\n").at(-1)).toContain("the holder has stopped");
  });
});
