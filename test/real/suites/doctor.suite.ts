import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  EKSClient,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import {
  DisableRuleCommand,
  EnableRuleCommand,
  EventBridgeClient,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  LambdaClient,
  UpdateEventSourceMappingCommand,
  UpdateFunctionCodeCommand,
} from "@aws-sdk/client-lambda";
import { DeleteScheduleCommand, ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { KubernetesObjectApi, RbacAuthorizationV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deployedHolder } from "../../../cli/control/control.ts";
import type { Account, FunctionFacts, QueueFacts, RuleFacts } from "../../../cli/doctor/aws/account.ts";
import { awsAccount } from "../../../cli/doctor/aws/aws-account.ts";
import { examine } from "../../../cli/doctor/examine.ts";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { alarmName, scheduleGroupName } from "../../../lambda/names.ts";
import { version } from "../../../lambda/version.ts";
import { until } from "../engines/processes.ts";
import { engineFolder } from "../runner/run-folder.ts";
import { OperatedCluster } from "../worlds/operated-cluster.ts";

const cluster = "operated";
const toTheRunbook = expect.stringMatching(/See docs\/operating\.md#sweep-silent$/);

/** How a link is broken and repaired, and what doctor reports meanwhile. */
type Break = Readonly<{
  how: string;
  damage: () => Promise<unknown>;
  repair?: () => Promise<unknown>;
  link: string;
  what: string;
}>;

describe("doctor on a real deployment", () => {
  let operated: OperatedCluster;
  let account: Account;
  let hold: FunctionFacts;
  let queue: QueueFacts;
  let rule: RuleFacts;

  beforeAll(async () => {
    operated = await OperatedCluster.start(cluster);
    await operated.addNode("a");
    account = awsAccount({ region: "us-east-1", endpoint: operated.emulator.endpoint }, cluster);
    hold = found(await account.functionOf("hold"));
    queue = found(await account.queue(hold.env.LAUNCH_QUEUE_URL ?? ""));
    rule = found(await account.launchRule());
    // The alarm on a silent sweep is on until the first sweep has run.
    await account.sweepNow();
    await until("the alarms to be off", noAlarm);
  });
  afterAll(async () => operated?.stop());

  const noAlarm = async () =>
    (await account.alarms(alarmName(cluster, ""))).every(({ state }) => state === "OK");
  const aws = <C>(Client: Parameters<typeof operated.emulator.client<C>>[0]) =>
    operated.emulator.client(Client);
  const untilHealthy = () =>
    until(
      "every link to be healthy again",
      async () => broken((await operated.doctor()).findings).length === 0,
    );
  const broken = (findings: readonly Readonly<{ link: string; verdict: string }>[]) => [
    ...new Set(findings.filter(({ verdict }) => verdict === "fail").map(({ link }) => link)),
  ];

  it("finds every link of a new deployment healthy, and times each hop of a probe", async () => {
    const { exit, findings } = await operated.doctor();
    expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(exit).toBe(0);
    expect(findings.at(-1)?.what).toMatch(/bus to queue \d+ ms, queue to function .+, function to record/);
  });

  it("names an alarm that is on, with its heading in the runbook", async () => {
    operated.emulator.advanceAlarms(hours(1));
    await until("an alarm", async () => !(await noAlarm()));

    const { exit, findings } = await operated.doctor();

    expect(findings.filter(({ link }) => link === "alarms")).toMatchObject([
      { verdict: "warn", what: expect.stringContaining("sweep-silent is on, for"), remedy: toTheRunbook },
    ]);
    expect(exit).toBe(0);
    await account.sweepNow();
    await until("the alarms to be off", noAlarm);
  });

  const breaks: readonly Break[] = [
    {
      how: "the rule is disabled",
      damage: () => aws(EventBridgeClient).send(new DisableRuleCommand({ Name: rule.name })),
      repair: () => aws(EventBridgeClient).send(new EnableRuleCommand({ Name: rule.name })),
      link: "rule",
      what: "is disabled",
    },
    {
      how: "the rule has no target",
      damage: () =>
        aws(EventBridgeClient).send(new RemoveTargetsCommand({ Rule: rule.name, Ids: ["Target0"] })),
      repair: () => {
        const DeadLetterConfig = { Arn: rule.targets[0]?.deadLetterArn };
        const Targets = [{ Id: "Target0", Arn: queue.arn, DeadLetterConfig }];
        return aws(EventBridgeClient).send(new PutTargetsCommand({ Rule: rule.name, Targets }));
      },
      link: "target",
      what: "does not lead to the launch queue",
    },
    {
      how: "the queue's policy is gone",
      damage: () => setPolicy({ Version: "2012-10-17", Statement: [] }),
      repair: () => setPolicy(queue.policy),
      link: "queue policy",
      what: "does not let the rule send",
    },
    {
      how: "the event source mapping is disabled",
      damage: () => setMapping(false),
      repair: () => setMapping(true),
      link: "mapping",
      what: "does not feed",
    },
    {
      how: "a function's access entry is gone",
      damage: () =>
        aws(EKSClient).send(
          new DeleteAccessEntryCommand({ clusterName: cluster, principalArn: hold.roleArn }),
        ),
      repair: () =>
        aws(EKSClient).send(
          new CreateAccessEntryCommand({
            clusterName: cluster,
            principalArn: hold.roleArn,
            kubernetesGroups: [holderName],
          }),
        ),
      link: "access entries",
      what: "has no access entry",
    },
    {
      how: "the control function's own entry is in another group",
      damage: () => setControlGroups(["other-group"]),
      repair: () => setControlGroups([holderName]),
      link: "access entries",
      what: "is not in group karpenter-node-holder",
    },
    {
      how: "the ClusterRole lacks a verb",
      damage: () => setVerbs(["get", "list"]),
      repair: () => setVerbs(["get", "list", "patch"]),
      link: "rights",
      what: "may not patch nodes",
    },
    {
      how: "the function's concurrency is 0",
      damage: () => account.functionOf("hold").then(() => reserve(0)),
      repair: () => reserve(undefined),
      link: "functions",
      what: "reserved concurrency is 0",
    },
  ];

  const setPolicy = (policy: unknown) =>
    aws(SQSClient).send(
      new SetQueueAttributesCommand({ QueueUrl: queue.url, Attributes: { Policy: JSON.stringify(policy) } }),
    );
  const setMapping = async (Enabled: boolean) => {
    const mapping = found(await account.mapping(hold.name, queue.arn));
    await aws(LambdaClient).send(new UpdateEventSourceMappingCommand({ UUID: mapping.id, Enabled }));
  };
  const setControlGroups = async (kubernetesGroups: string[]) => {
    const { roleArn } = found(await account.functionOf("control"));
    const entry = { clusterName: cluster, principalArn: roleArn, kubernetesGroups };
    await aws(EKSClient).send(new UpdateAccessEntryCommand(entry));
  };
  const setVerbs = async (verbs: string[]) => {
    const rbac = operated.kubernetes.makeApiClient(RbacAuthorizationV1Api);
    const role = await rbac.readClusterRole({ name: holderName });
    const [ofNodes, ...others] = role.rules ?? [];
    await rbac.replaceClusterRole({
      name: holderName,
      body: { ...role, rules: [{ ...ofNodes, verbs }, ...others] },
    });
  };
  const reserve = async (reserved: number | undefined) => {
    const { DeleteFunctionConcurrencyCommand, PutFunctionConcurrencyCommand } = await import(
      "@aws-sdk/client-lambda"
    );
    const FunctionName = hold.name;
    await (reserved === undefined
      ? aws(LambdaClient).send(new DeleteFunctionConcurrencyCommand({ FunctionName }))
      : aws(LambdaClient).send(
          new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: reserved }),
        ));
  };

  it.each(breaks)("names exactly one link when $how", async ({ damage, repair, link, what }) => {
    await damage();
    try {
      const seen = await firstOf(async () => {
        const { exit, findings } = await operated.doctor();
        return broken(findings).length > 0 ? { exit, findings } : undefined;
      });
      expect(broken(seen.findings)).toEqual([link]);
      expect(seen.exit).toBe(1);
      const finding = seen.findings.find(({ verdict }) => verdict === "fail");
      expect(finding?.what).toContain(what);
      expect(finding?.remedy).toBeTruthy();
    } finally {
      await repair?.();
    }
    // An API server caches logins for some seconds.
    await untilHealthy();
  });

  it("names the admission policy when its binding is gone", async () => {
    const objects = KubernetesObjectApi.makeApiClient(operated.kubernetes);
    const binding = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: holderName },
    };
    const original = await objects.read(binding);
    await objects.delete(original);
    try {
      const findings = await firstOf(async () => {
        const seen = (await operated.doctor()).findings;
        return broken(seen).length > 0 ? seen : undefined;
      });
      expect(broken(findings)).toEqual(["policy"]);
    } finally {
      const { resourceVersion: _v, uid: _u, creationTimestamp: _c, ...metadata } = original.metadata ?? {};
      await objects.create({ ...original, metadata });
    }
    await untilHealthy();
  });

  it("compares role and policy word for word with an administrator's kubeconfig", async () => {
    const own = ["--kubeconfig", operated.kubeconfig];
    const findings = (await operated.doctor(...own)).findings;
    expect(findings.find(({ link }) => link === "manifest")?.verdict).toBe("ok");
    await setVerbs(["get", "list", "patch", "delete"]);
    try {
      expect(broken((await operated.doctor(...own)).findings)).toEqual(["manifest"]);
    } finally {
      await setVerbs(["get", "list", "patch"]);
    }
  });

  it("names the hold whose one-shot is gone, and --fix sets a new one", async () => {
    expect((await operated.run("hold", "--for", "45m", "--reason", "test")).exit).toBe(0);
    expect(broken((await operated.doctor()).findings)).toEqual([]);
    const scheduler = aws(SchedulerClient);
    const GroupName = scheduleGroupName(cluster);
    const { Schedules = [] } = await scheduler.send(new ListSchedulesCommand({ GroupName }));
    for (const { Name } of Schedules) await scheduler.send(new DeleteScheduleCommand({ GroupName, Name }));

    const seen = await operated.doctor();
    expect(broken(seen.findings)).toEqual(["holds"]);
    expect(seen.findings.find(({ link }) => link === "holds")?.what).toContain("has no one-shot");

    const repaired = await operated.doctor("--fix");
    expect({ exit: repaired.exit, broken: broken(repaired.findings) }).toEqual({ exit: 0, broken: [] });
    expect((await operated.run("release", "--force")).exit).toBe(0);
  });

  it("runs an operator's commands, and shows them in status and history", async () => {
    const run = async (...words: string[]) => {
      const { exit, output, errors } = await operated.run(...words);
      expect({ words, exit, errors }).toEqual({ words, exit: 0, errors: "" });
      return output;
    };
    expect(await run("hold", "--for", "45m", "--reason", "a test")).toContain("Nodes marked now: 1");
    expect(await run("status")).toMatch(/cluster +held .*\(in 4[45]m\d*s?\) .* 1 +0 +held by hand: a test/);
    expect(await run("pause", "--for", "1h", "--reason", "the test is over")).toContain("Nodes released: 1");
    expect(await run("status")).toMatch(/cluster +paused .*\(in (59m|1h).* paused by hand: the test is over/);
    expect(await run("resume")).toContain("Resumed cluster");
    expect(await run("release", "--force")).toBe("Nothing is held.");
    expect(await run("history")).toMatch(/cluster +0 +0 +1 +paused by hand: the test is over/);
  });

  it("repairs a disabled rule, a disabled mapping, a lost queue policy and a lost entry", async () => {
    await aws(EventBridgeClient).send(new DisableRuleCommand({ Name: rule.name }));
    await setMapping(false);
    await setPolicy({ Version: "2012-10-17", Statement: [] });
    await aws(EKSClient).send(
      new DeleteAccessEntryCommand({ clusterName: cluster, principalArn: hold.roleArn }),
    );
    const { exit, findings } = await operated.doctor("--fix");
    expect({ exit, broken: broken(findings) }).toEqual({ exit: 0, broken: [] });
  });

  it("warns about a clock that differs", async () => {
    const doctor = {
      cluster,
      account,
      ask: deployedHolder({ cluster, region: "us-east-1", endpointUrl: operated.emulator.endpoint }, {}).ask,
      clock: { now: () => after(new Date(), -minutes(3)) },
      sleep: (duration: number) => new Promise<void>((resolve) => setTimeout(resolve, duration)),
    };
    const findings = await examine(doctor, () => {});
    expect(broken(findings)).toEqual([]);
    const clock = findings.find(({ link }) => link === "clock");
    expect(clock).toMatchObject({
      verdict: "warn",
      what: expect.stringMatching(/clock is (3m|2m5\ds) behind/),
    });
  });

  it("detects a function with an old bundle", async () => {
    await deployCode("hold", (code) => code.replaceAll(`"${version}"`, '"0.0.1"'));
    const { findings } = await operated.doctor();
    expect(broken(findings)).toEqual(["code"]);
    expect(findings.find(({ verdict }) => verdict === "fail")?.what).toContain("version 0.0.1");

    await deployCode("hold", (code) => code);
    await deployCode("control", (code) => code.replaceAll(`"${version}"`, '"0.0.1"'));
    const control = (await operated.doctor()).findings.filter(({ link }) => link === "code");
    expect(control).toMatchObject([
      { verdict: "warn", what: expect.stringContaining("the functions are version 0.0.1") },
      { verdict: "fail", what: expect.stringContaining("the control function's 0.0.1") },
    ]);
    await deployCode("control", (code) => code);
  });

  it("names the table when it is gone", async () => {
    const TableName = hold.env.HOLD_TABLE ?? "";
    await aws(DynamoDBClient).send(new DeleteTableCommand({ TableName }));
    const { exit, findings } = await operated.doctor();
    expect(broken(findings)).toEqual(["record"]);
    expect(exit).toBe(1);
    const KeySchema = [
      { AttributeName: "kind", KeyType: "HASH" },
      { AttributeName: "name", KeyType: "RANGE" },
    ] as const;
    await aws(DynamoDBClient).send(
      new CreateTableCommand({
        TableName,
        KeySchema: [...KeySchema],
        AttributeDefinitions: KeySchema.map(({ AttributeName }) => ({ AttributeName, AttributeType: "S" })),
        BillingMode: "PAY_PER_REQUEST",
      }),
    );
  });

  it("lists the existing holders when the cluster's name is wrong", async () => {
    const { exit, errors } = await operated.run("status", "--cluster", "operatde");
    expect(exit).toBe(1);
    expect(errors).toContain("Holders found");
  });

  async function deployCode(part: "hold" | "control", change: (code: string) => string): Promise<void> {
    const folder = engineFolder("bundle");
    const source = join(import.meta.dirname, `../../../dist/functions/${part}/index.mjs`);
    writeFileSync(join(folder, "index.mjs"), change(readFileSync(source, "utf8")));
    await promisify(execFile)("python3", ["-m", "zipfile", "-c", "code.zip", "index.mjs"], { cwd: folder });
    const { name } = found(await account.functionOf(part));
    const ZipFile = readFileSync(join(folder, "code.zip"));
    await aws(LambdaClient).send(new UpdateFunctionCodeCommand({ FunctionName: name, ZipFile }));
    await until("the new code to be active", async () => {
      const { state, lastUpdate } = found(await account.functionOf(part));
      return state === "Active" && lastUpdate === "Successful";
    });
  }
});

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a part of the deployment is missing");
  return value;
}

/** Calls `ask` until it returns a value. */
async function firstOf<T>(ask: () => Promise<T | undefined>): Promise<T> {
  let answer: T | undefined;
  await until("doctor to detect it", async () => {
    answer = await ask();
    return answer !== undefined;
  });
  return found(answer);
}
