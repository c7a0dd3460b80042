import { describe, expect, it } from "vitest";
import { rowsIn, useSmokeAccount } from "../deployed/smoke-account.ts";
import { patience } from "../engines/processes.ts";

describe("npm run smoke", () => {
  const account = useSmokeAccount();

  it("finds every assumption true, holds and releases a launch, and leaves nothing", async () => {
    const { shell, cluster, command } = account();
    const smoke = shell.open(command("prod"));
    // It deploys first, and looks at much.
    await smoke.prints(/waiting for a launch/, 2 * patience);
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
  });

  it("names the assumption that is false, and deploys nothing", async () => {
    const { shell, command } = account();
    const { exit, output } = await shell.try(command("another"));
    expect(exit, output).toBe(1);
    expect(rowsIn(output)).toEqual([{ verdict: "BROKEN", assumption: "the cluster can have a holder" }]);
    expect(output).toContain("there is no EKS cluster another");
  });
});
