import { join } from "node:path";
import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { criteria } from "../../../lab/smoke/ledger/criteria.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { DeployedCluster } from "../deployed/cluster.ts";
import { DeployedWorld } from "../deployed/world.ts";
import type { Emulator } from "../emulator/emulator.ts";
import type { EksPlane } from "../engines/eks-plane.ts";
import { Shell } from "../runner/shell.ts";

describe("npm run smoke", () => {
  let emulator: Emulator;
  let plane: EksPlane;
  let shell: Shell;
  let cluster: DeployedCluster;

  beforeAll(async () => {
    ({ emulator } = await DeployedWorld.start());
    plane = await emulator.createCluster("prod");
    cluster = new DeployedCluster(emulator, "prod", plane);
    shell = new Shell(emulator.folder, { ...emulator.env, CI: "true" });
  });
  afterAll(async () => {
    await shell?.stop();
    await emulator?.stop();
  });

  /** Its table is on stdout, its progress on stderr. */
  const command = (cluster: string, flags = "") =>
    `npm run smoke -- --cluster ${cluster} --yes --kubeconfig ${plane.kubeconfig()} ${flags} 2>&1`;

  /** The rows of the table: verdict and assumption. */
  const rowsIn = (printed: string) =>
    (printed.split(/^ +ASSUMPTION .*\n/m)[1] ?? "")
      .split("\n")
      .map((line) => /^(ok|BROKEN) +(.+?)(?: {2,}|$)/.exec(line))
      .flatMap((row) => (row ? [{ verdict: row[1], assumption: row[2] }] : []));

  it("finds every assumption true, holds and releases a launch, and leaves nothing", async () => {
    const smoke = shell.open(command("prod"));
    await smoke.prints(/waiting for a launch/, 500_000);
    await cluster.join(await cluster.launch());

    await smoke.ended;
    expect(smoke.exit, smoke.output).toBe(0);
    const rows = rowsIn(smoke.output);
    expect(rows.filter(({ verdict }) => verdict === "BROKEN")).toEqual([]);
    for (const assumption of [
      "a quiet queue delivers at once",
      "a launch starts a hold",
      "the hold's one-shot releases its nodes",
      "a destroy leaves nothing in the account",
      "no mark and no right stays in the cluster",
    ])
      expect(rows).toContainEqual({ verdict: "ok", assumption });
  }, 900_000);

  it("writes a ledger that meets every criterion, and judges it again from its file", async () => {
    const users = await cluster.join(await cluster.launch());
    await cluster.core.patchNode(
      { name: users, body: { metadata: { annotations: { [Karpenter.v1.annotation]: "true" } } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    const file = join(emulator.folder, "ledger.jsonl");
    const ledger = `--ledger ${file} --for 3m --every 5s -c hold=1m`;
    const smoke = shell.open(command("prod", ledger));
    await smoke.prints(/recording into/, 500_000);
    await cluster.join(await cluster.launch());
    await smoke.ended;
    expect(smoke.exit, smoke.output).toBe(0);
    expect(smoke.output).toContain("US$  together");
    const again = await shell.run(`npm run smoke -- --cluster prod --analyse ${file}`);
    expect(rowsIn(again).map(({ verdict }) => verdict)).toEqual(criteria.map(() => "ok"));
  }, 1_500_000);

  it("names the assumption that is false, and deploys nothing", async () => {
    const { exit, output } = await shell.try(command("another"));
    expect(exit, output).toBe(1);
    expect(rowsIn(output)).toEqual([{ verdict: "BROKEN", assumption: "the cluster can have a holder" }]);
    expect(output).toContain("there is no EKS cluster another");
  });
});
