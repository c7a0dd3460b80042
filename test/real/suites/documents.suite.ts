import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { CoreV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { Emulator } from "../emulator/emulator.ts";
import { Typist } from "../runner/typist.ts";

const { annotation: holdAnnotation, poolLabel, registeredLabel } = Karpenter.v1;

// One story in this order: each command finds what those before it left.
describe("what the documents tell operators to type, by their shell", { timeout: 900_000 }, () => {
  let emulator: Emulator;
  let core: CoreV1Api;
  let typist: Typist;

  beforeAll(async () => {
    emulator = await Emulator.start();
    const plane = await emulator.createCluster("prod");
    core = plane.config().makeApiClient(CoreV1Api);
    const home = join(emulator.folder, "home");
    mkdirSync(join(home, ".kube"), { recursive: true });
    copyFileSync(plane.kubeconfig(), join(home, ".kube/config"));
    typist = new Typist(emulator.folder, {
      ...emulator.env,
      HOME: home,
      // What a terminal would be asked; and each run's template beside the others'.
      CDK_REQUIRE_APPROVAL: "never",
      CDK_FORCE: "true",
      CDK_OUTPUT: join(emulator.folder, "cdk.out"),
    });
    await addNode("a", {});
    await addNode("own", { [holdAnnotation]: "true" });
  });
  afterAll(async () => {
    await typist?.stop();
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
      metadata?.labels?.[holdLabel] === undefined ? "nobody's" : "ours",
    ]);

  const type = (command: string) => typist.type(command);
  const done = (command: string) => typist.done(command);
  const hold = () => done('npx karpenter-node-holder hold --reason "a drill" --cluster prod');

  it("deploys", async () => {
    expect(await done("npx karpenter-node-holder --help")).toContain("doctor [options]");
    await done("npx cdk bootstrap -c cluster=prod");
    await done("npx cdk deploy -c cluster=prod");
    expect(await done("npx karpenter-node-holder status --cluster prod")).toContain(
      "holds 20m after each launch, 2h at most",
    );
    await done("npx karpenter-node-holder doctor --fix --cluster prod");
    expect(await done("npx karpenter-node-holder doctor --cluster prod")).toMatch(/probe/);
  });

  it("shows who is held, and releases", async () => {
    await hold();
    expect(await done("kubectl get nodes -L karpenter-node-holder/hold")).toMatch(
      /^NAME .* HOLD\na .* \d{8}t\d{6}/,
    );
    expect(await done("npx karpenter-node-holder status --cluster prod")).toMatch(/cluster +held /);
    expect(await done("npx karpenter-node-holder release --force --cluster prod")).toContain(
      "Nodes released: 1",
    );
    expect(await marks()).toEqual([
      ["a", undefined, "nobody's"],
      ["own", "true", "nobody's"],
    ]);
  });

  it("takes marks off by hand, and only ours", async () => {
    await hold();
    expect(
      await done(
        "kubectl annotate nodes -l 'karpenter-node-holder/hold,karpenter-node-holder/hold!=never' karpenter.sh/do-not-disrupt-",
      ),
    ).toBe("node/a annotated\n");
    expect(
      await done(
        "kubectl label nodes -l 'karpenter-node-holder/hold,karpenter-node-holder/hold!=never' karpenter-node-holder/hold-",
      ),
    ).toBe("node/a unlabeled\n");
    expect(await marks()).toEqual([
      ["a", undefined, "nobody's"],
      ["own", "true", "nobody's"],
    ]);
    expect(
      await done(
        "kubectl get nodes -l '!karpenter-node-holder/hold' -o custom-columns='NODE:.metadata.name,KEPT:.metadata.annotations.karpenter\\.sh/do-not-disrupt'",
      ),
    ).toMatch(/NODE +KEPT\na +<none>\nown +true/);
  });

  it("pauses and resumes", async () => {
    expect(
      await done(
        'npx karpenter-node-holder pause --for 2h --reason "Ada replaces every node" --cluster prod',
      ),
    ).toContain("Paused until");
    expect(await done("npx karpenter-node-holder resume --cluster prod")).toContain("Resumed cluster");
  });

  it("looks into CloudTrail, which knows no launch here", async () => {
    const { exit, told } = await type("npx karpenter-node-holder advise --cluster prod");
    expect({ exit, told }).toEqual({
      exit: 1,
      told: expect.stringContaining("no launch of a Karpenter node"),
    });
  });

  it("deploys again with other settings", async () => {
    await done("npx cdk deploy -c cluster=prod -c hold=30m -c maxHold=4h");
    expect(await done("npx karpenter-node-holder status --cluster prod")).toContain(
      "holds 30m after each launch, 4h at most",
    );
  });

  it("destroys, and leaves nothing behind", async () => {
    await hold();
    await done("npx cdk destroy -c cluster=prod");
    expect(await marks()).toEqual([
      ["a", undefined, "nobody's"],
      ["own", "true", "nobody's"],
    ]);
    expect(
      (
        await type(
          "kubectl delete clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,role,rolebinding karpenter-node-holder -n default",
        )
      ).told,
    ).toContain('"karpenter-node-holder" not found');
  });

  it("gives rights by hand, and takes them back", async () => {
    expect(await done("npx karpenter-node-holder manifest")).toContain("kind: ValidatingAdmissionPolicy");
    const applied = await done("npx karpenter-node-holder manifest | kubectl apply -f -");
    expect(applied.match(/created/g)).toHaveLength(6);
    expect(
      (
        await done(
          "kubectl delete clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,role,rolebinding karpenter-node-holder -n default",
        )
      ).match(/deleted/g),
    ).toHaveLength(6);
  });

  it.each([
    "npx karpenter-node-holder run --kubeconfig ~/.kube/config --hold 20m",
    "npx karpenter-node-holder run --kubeconfig ~/.kube/config --release-on-exit",
  ])("runs without AWS: %s", async (command) => {
    const holder = typist.open(command);
    await holder.says(/the holder is at work/);
    await holder.interrupt();
    // How npx ends that was interrupted is its own matter.
    expect(holder.output.trim().split("\n").at(-1)).toContain("the holder has stopped");
  });
});
