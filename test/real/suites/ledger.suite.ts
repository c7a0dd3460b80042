import { join } from "node:path";
import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { criteria } from "../../../lab/smoke/ledger/criteria.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { rowsIn, useSmokeAccount } from "../deployed/smoke-account.ts";

describe("npm run smoke -- --ledger", () => {
  const account = useSmokeAccount();

  it("writes a ledger that meets every criterion, and judges it again from its file", async () => {
    const { emulator, shell, cluster, command } = account();
    const users = await cluster.join(await cluster.launch());
    await cluster.core.patchNode(
      { name: users, body: { metadata: { annotations: { [Karpenter.v1.annotation]: "true" } } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    const file = join(emulator.folder, "ledger.jsonl");
    const ledger = `--ledger ${file} --for 3m --every 5s -c hold=1m`;
    const smoke = shell.open(command("prod", ledger));
    await smoke.prints(/recording into/);
    await cluster.join(await cluster.launch());
    await smoke.ended;
    expect(smoke.exit, smoke.output).toBe(0);
    expect(smoke.output).toContain("US$  together");
    const again = await shell.run(`npm run smoke -- --cluster prod --analyse ${file}`);
    expect(rowsIn(again).map(({ verdict }) => verdict)).toEqual(criteria.map(() => "ok"));
  });
});
