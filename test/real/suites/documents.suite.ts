import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { CoreV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { Emulator } from "../emulator/emulator.ts";
import { documented } from "../runner/documented.ts";
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
    expect(await done(documented.help)).toContain("doctor [options]");
    await done(documented.bootstrap);
    await done(documented.deploy);
    expect(await done(documented.status)).toContain("holds 20m after each launch, 2h at most");
    await done(documented.mend);
    expect(await done(documented.doctor)).toMatch(/probe/);
  });

  it("shows who is held, and releases", async () => {
    await hold();
    expect(await done(documented.whoIsHeld)).toMatch(/^NAME .* HOLD\na .* \d{8}t\d{6}/);
    expect(await done(documented.status)).toMatch(/cluster +held /);
    expect(await done(documented.release)).toContain("Nodes released: 1");
    expect(await marks()).toEqual([
      ["a", undefined, "nobody's"],
      ["own", "true", "nobody's"],
    ]);
  });

  it("takes marks off by hand, and only ours", async () => {
    await hold();
    expect(await done(documented.annotationOff)).toBe("node/a annotated\n");
    expect(await done(documented.labelOff)).toBe("node/a unlabeled\n");
    expect(await marks()).toEqual([
      ["a", undefined, "nobody's"],
      ["own", "true", "nobody's"],
    ]);
    expect(await done(documented.whoIsForeign)).toMatch(/NODE +KEPT\na +<none>\nown +true/);
  });

  it("pauses and resumes", async () => {
    expect(await done(documented.pause)).toContain("Paused until");
    expect(await done(documented.resume)).toContain("Resumed cluster");
  });

  it("looks into CloudTrail, which knows no launch here", async () => {
    const { exit, told } = await type(documented.advise);
    expect({ exit, told }).toEqual({
      exit: 1,
      told: expect.stringContaining("no launch of a Karpenter node"),
    });
  });

  it("deploys again with other settings", async () => {
    await done(documented.deployWithSettings);
    expect(await done(documented.status)).toContain("holds 30m after each launch, 4h at most");
  });

  it("destroys, and leaves nothing behind", async () => {
    await hold();
    await done(documented.destroy);
    expect(await marks()).toEqual([
      ["a", undefined, "nobody's"],
      ["own", "true", "nobody's"],
    ]);
    expect((await type(documented.accessOff)).told).toContain('"karpenter-node-holder" not found');
  });

  it("gives rights by hand, and takes them back", async () => {
    expect(await done(documented.manifest)).toContain("kind: ValidatingAdmissionPolicy");
    const applied = await done(documented.applyManifest);
    expect(applied.match(/created/g)).toHaveLength(4);
    expect((await done(documented.accessOff)).match(/deleted/g)).toHaveLength(4);
  });

  it.each([documented.run, documented.tryRun])("runs without AWS: %s", async (command) => {
    const holder = typist.open(command);
    await holder.says(/the holder is at work/);
    await holder.interrupt();
    // How npx ends that was interrupted is its own matter.
    expect(holder.output.trim().split("\n").at(-1)).toContain("the holder has stopped");
  });

  it("is all that they tell", () => {
    expect(Object.values(documented).filter((command) => !typist.typed.has(command))).toEqual([]);
  });
});
