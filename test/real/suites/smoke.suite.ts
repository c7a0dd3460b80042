import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { EKSClient, ListAccessEntriesCommand } from "@aws-sdk/client-eks";
import { IAMClient, ListRolesCommand } from "@aws-sdk/client-iam";
import { ListScheduleGroupsCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeployedCluster } from "../deployed/cluster.ts";
import { DeployedWorld } from "../deployed/world.ts";
import { allAwsBehaviour, type Emulator, nodeFirst } from "../emulator/emulator.ts";
import type { EksPlane } from "../engines/eks-plane.ts";
import { Processes, until } from "../engines/processes.ts";

const script = resolve(import.meta.dirname, "../../../lab/smoke/run.ts");

describe("npm run smoke", () => {
  let emulator: Emulator;
  let plane: EksPlane;
  const processes = new Processes("smoke");

  beforeAll(async () => {
    ({ emulator } = await DeployedWorld.start());
    plane = await emulator.createCluster("prod");
  });
  afterAll(async () => {
    await processes.stopAll();
    await emulator?.stop();
  });

  /** The running command: its output so far, and its exit code once it has ended. */
  function smoke(...words: string[]) {
    const env = { ...emulator.env, PATH: nodeFirst, CI: "true" };
    const args = [script, "--cluster", "prod", "--yes", "--kubeconfig", plane.kubeconfig(), ...words];
    const { child, log } = processes.start(`smoke-${Date.now()}`, process.execPath, args, env);
    const ended = new Promise<number | null>((done) => child.once("close", done));
    return { ended, printed: () => readFileSync(log, "utf8") };
  }

  /** The rows of the table: verdict and assumption. */
  const rowsIn = (printed: string) =>
    (printed.split(/^ +ASSUMPTION .*\n/m)[1] ?? "")
      .split("\n")
      .map((line) => /^(ok|BROKEN) +(.+?)(?: {2,}|$)/.exec(line))
      .flatMap((row) => (row ? [{ verdict: row[1], assumption: row[2] }] : []));

  it("finds every assumption true, holds and releases a launch, and leaves nothing", async () => {
    const { ended, printed } = smoke();

    await until("it to wait for a launch", async () => printed().includes("waiting for a launch"), 500_000);
    const cluster = new DeployedCluster(emulator, "prod", plane);
    await cluster.join(await cluster.launch());

    expect(await ended, printed()).toBe(0);
    const rows = rowsIn(printed());
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

    const { ended, printed } = smoke();

    expect(await ended, printed()).toBe(1);
    expect(rowsIn(printed()).filter(({ verdict }) => verdict === "BROKEN")).toEqual([
      { verdict: "BROKEN", assumption: "a one-shot a minute ahead fires" },
    ]);
    expect(printed()).toContain("accepted, and not fired within two minutes");
    expect(printed()).not.toContain("the stack deploys");
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
