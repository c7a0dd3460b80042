import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { EKSClient, ListAccessEntriesCommand } from "@aws-sdk/client-eks";
import { IAMClient, ListRolesCommand } from "@aws-sdk/client-iam";
import { ListScheduleGroupsCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeployedCluster } from "../deployed/cluster.ts";
import { DeployedWorld } from "../deployed/world.ts";
import { allAwsBehaviour, type Emulator } from "../emulator/emulator.ts";
import type { EksPlane } from "../engines/eks-plane.ts";
import { Shell } from "../runner/shell.ts";

describe("npm run smoke", () => {
  let emulator: Emulator;
  let plane: EksPlane;
  let shell: Shell;

  beforeAll(async () => {
    ({ emulator } = await DeployedWorld.start());
    plane = await emulator.createCluster("prod");
    shell = new Shell(emulator.folder, { ...emulator.env, CI: "true" });
  });
  afterAll(async () => {
    await shell?.stop();
    await emulator?.stop();
  });

  /** Its table is on stdout, its progress on stderr. */
  const command = () => `npm run smoke -- --cluster prod --yes --kubeconfig ${plane.kubeconfig()} 2>&1`;

  /** The rows of the table: verdict and assumption. */
  const rowsIn = (printed: string) =>
    (printed.split(/^ +ASSUMPTION .*\n/m)[1] ?? "")
      .split("\n")
      .map((line) => /^(ok|BROKEN) +(.+?)(?: {2,}|$)/.exec(line))
      .flatMap((row) => (row ? [{ verdict: row[1], assumption: row[2] }] : []));

  it("finds every assumption true, holds and releases a launch, and leaves nothing", async () => {
    const smoke = shell.open(command());
    await smoke.prints(/waiting for a launch/, 500_000);
    const cluster = new DeployedCluster(emulator, "prod", plane);
    await cluster.join(await cluster.launch());

    await smoke.ended;
    expect(smoke.exit, smoke.output).toBe(0);
    const rows = rowsIn(smoke.output);
    expect(rows.filter(({ verdict }) => verdict === "BROKEN")).toEqual([]);
    for (const assumption of [
      "a one-shot a minute ahead fires",
      "a quiet queue delivers at once",
      "a launch starts a hold",
      "the hold's one-shot releases its nodes",
      "a destroy leaves nothing in the account",
      "no mark and no right stays in the cluster",
    ])
      expect(rows).toContainEqual({ verdict: "ok", assumption });
  }, 900_000);

  it("names the assumption that is false, deploys nothing, and removes what it created", async () => {
    emulator.setBehaviour([...allAwsBehaviour, "one-shots-lost"]);

    const { exit, output } = await shell.try(command());
    expect(exit, output).toBe(1);
    expect(rowsIn(output).filter(({ verdict }) => verdict === "BROKEN")).toEqual([
      { verdict: "BROKEN", assumption: "a one-shot a minute ahead fires" },
    ]);
    expect(output).toContain("accepted, and not fired within two minutes");
    expect(output).not.toContain("the stack deploys");
    expect(await temporaryResources(emulator)).toEqual([]);
  });
});

/** Resources with the command's name, which it must remove. */
async function temporaryResources(emulator: Emulator): Promise<readonly unknown[]> {
  const prefix = "karpenter-node-holder-smoke";
  const { QueueUrls = [] } = await emulator
    .client(SQSClient)
    .send(new ListQueuesCommand({ QueueNamePrefix: prefix }));
  const { Roles = [] } = await emulator.client(IAMClient).send(new ListRolesCommand({}));
  const { TableNames = [] } = await emulator.client(DynamoDBClient).send(new ListTablesCommand({}));
  const { ScheduleGroups = [] } = await emulator
    .client(SchedulerClient)
    .send(new ListScheduleGroupsCommand({ NamePrefix: prefix }));
  const { accessEntries = [] } = await emulator
    .client(EKSClient)
    .send(new ListAccessEntriesCommand({ clusterName: "prod" }));
  const named = [...Roles.map(({ RoleName = "" }) => RoleName), ...TableNames, ...accessEntries];
  return [...QueueUrls, ...ScheduleGroups, ...named.filter((name) => name.includes(prefix))];
}
