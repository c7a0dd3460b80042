import { DeleteAccessEntryCommand, EKSClient } from "@aws-sdk/client-eks";
import { DisableRuleCommand, EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { DeleteRolePolicyCommand, IAMClient, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import {
  CreateAliasCommand,
  DeleteAliasCommand,
  LambdaClient,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { CreateScheduleCommand, DeleteScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { SetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { KubernetesObjectApi, RbacAuthorizationV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commandLine } from "../../../cli/command-line.ts";
import {
  type Account,
  awsAccount,
  type FunctionFacts,
  type QueueFacts,
  type RuleFacts,
} from "../../../cli/doctor/aws/aws-account.ts";
import { alarmNames, functionName, type Part, scheduleGroupName } from "../../../infra/names.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { scheduleAlias } from "../../../lambda/environment.ts";
import { CollectedTerminal } from "../../support/collected-terminal.ts";
import type { DeployedCluster } from "../deployed/cluster.ts";
import { forbid } from "../deployed/damage.ts";
import { DeployedWorld } from "../deployed/world.ts";
import { until } from "../engines/processes.ts";

const cluster = "operated";

type Finding = Readonly<{ link: string; verdict: string; what: string; remedy?: string }>;

/** How a link is broken, what doctor reports meanwhile, and how it is repaired: by `doctor --fix` unless this is given. */
type Break = Readonly<{
  how: string;
  damage: () => Promise<unknown>;
  repair?: () => Promise<unknown>;
  link: string;
  what: string;
}>;

describe("doctor on a real deployment", () => {
  let world: DeployedWorld;
  let operated: DeployedCluster;
  let account: Account;
  let hold: FunctionFacts;
  let queue: QueueFacts;
  let rule: RuleFacts;

  beforeAll(async () => {
    world = await DeployedWorld.start([]);
    for (const [key, value] of Object.entries(world.emulator.env)) vi.stubEnv(key, value);
    operated = await world.cluster(cluster);
    await operated.join("i-0123456789abcdef0");
    account = awsAccount({ region: "us-east-1", endpoint: world.emulator.endpoint }, cluster);
    hold = found(await account.functionOf("hold"));
    queue = found(await account.queue(hold.env.LAUNCH_QUEUE_URL ?? ""));
    rule = found(await account.ruleTo(queue.arn));
    // The alarm on a silent sweep is on until the first sweep has run.
    await account.invoke("sweep", {});
    await until("the alarms to be off", noAlarm);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await world?.stop();
  });

  const noAlarm = async () =>
    (await account.alarms(alarmNames(cluster))).every(({ state }) => state === "OK");
  const aws = <C>(Client: Parameters<typeof world.emulator.client<C>>[0]) => world.emulator.client(Client);
  /** Runs a command for this cluster. */
  const run = async (...words: string[]) => {
    const terminal = new CollectedTerminal(world.emulator.env);
    const exit = await commandLine([...words, "--cluster", cluster], terminal);
    return { exit, output: terminal.output };
  };
  const doctor = async (...words: string[]) => {
    const { exit, output } = await run("doctor", "-o", "json", ...words);
    const { findings }: { findings: readonly Finding[] } = JSON.parse(output);
    const broken = findings.filter(({ verdict }) => verdict === "fail");
    return { exit, findings, broken, links: [...new Set(broken.map(({ link }) => link))] };
  };

  it("finds every link of a new deployment healthy, and times a probe", async () => {
    const { exit, findings } = await doctor();
    expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(exit).toBe(0);
    const timed = /came back after .+ s, of which .+ s from the queue to the function/;
    expect(findings.at(-1)?.what).toMatch(timed);
  });

  let restore = async () => {};
  const forbidding = (part: Part, action: string) => ({
    damage: async () => {
      restore = await forbid(world.emulator, operated, part, action);
    },
    repair: () => restore(),
  });
  const breaks: readonly Break[] = [
    {
      how: "the rule is disabled",
      damage: () => aws(EventBridgeClient).send(new DisableRuleCommand({ Name: rule.name })),
      link: "rule",
      what: "is disabled",
    },
    {
      how: "the queue's policy is gone",
      damage: () => {
        const attributes = { QueueUrl: queue.url, Attributes: { Policy: policyOf() } };
        return aws(SQSClient).send(new SetQueueAttributesCommand(attributes));
      },
      link: "queue policy",
      what: "does not let the rule send",
    },
    {
      how: "the event source mapping is disabled",
      damage: async () => {
        const { id } = found(await account.mapping(hold.name, queue.arn));
        await aws(LambdaClient).send(new UpdateEventSourceMappingCommand({ UUID: id, Enabled: false }));
      },
      link: "mapping",
      what: "does not feed",
    },
    {
      how: "a function's access entry is gone",
      damage: () => {
        const entry = { clusterName: cluster, principalArn: hold.roleArn };
        return aws(EKSClient).send(new DeleteAccessEntryCommand(entry));
      },
      link: "access entries",
      what: "has no access entry",
    },
    {
      how: "the ClusterRole lacks a verb",
      damage: () => setVerbs(["get", "list"]),
      repair: () => setVerbs(["get", "list", "patch"]),
      link: "rights",
      what: "may not patch nodes",
    },
    {
      how: "the admission policy's binding is gone",
      damage: () => objects().delete(binding),
      repair: () => objects().create({ ...binding, spec } as typeof binding),
      link: "policy",
      what: "missing or not bound",
    },
    {
      how: "the role of the one-shots has an explicit Deny",
      damage: () => aws(IAMClient).send(new PutRolePolicyCommand({ ...damage(), PolicyDocument: denyAll })),
      repair: () => aws(IAMClient).send(new DeleteRolePolicyCommand(damage())),
      link: "permissions",
      what: "the schedule role may not lambda:InvokeFunction",
    },
    {
      how: "a function may not pass the role of the one-shots",
      ...forbidding("sweep", "iam:PassRole"),
      link: "permissions",
      what: "sweep may not iam:PassRole",
    },
    {
      how: "the release function's alias is gone",
      damage: () => aws(LambdaClient).send(new DeleteAliasCommand(releaseAlias)),
      repair: () => aws(LambdaClient).send(new CreateAliasCommand({ ...releaseAlias, ...newest })),
      link: "release alias",
      what: "has no alias schedule",
    },
    {
      how: "the group has a schedule that is no one-shot",
      damage: () => {
        const { RELEASE_FUNCTION_ARN: Arn, SCHEDULE_ROLE_ARN: RoleArn } = hold.env;
        const when = { ScheduleExpression: "rate(1 hour)", FlexibleTimeWindow: { Mode: "OFF" } } as const;
        const schedule = { ...foreign, ...when, Target: { Arn, RoleArn, Input: '{"force":true}' } };
        return aws(SchedulerClient).send(new CreateScheduleCommand(schedule));
      },
      repair: () => aws(SchedulerClient).send(new DeleteScheduleCommand(foreign)),
      link: "schedules",
      what: "backup (rate(1 hour)) is no one-shot",
    },
    {
      how: "the release function alone may not write to the table",
      ...forbidding("release", "dynamodb:PutItem"),
      link: "record",
      what: "the release function cannot write",
    },
  ];

  const policyOf = (...Statement: object[]) => JSON.stringify({ Version: "2012-10-17", Statement });
  const denyAll = policyOf({ Effect: "Deny", Action: "lambda:*", Resource: "*" });
  const foreign = { GroupName: scheduleGroupName(cluster), Name: "backup" };
  const releaseAlias = { FunctionName: functionName(cluster, "release"), Name: scheduleAlias };
  const newest = { FunctionVersion: "$LATEST" };
  const damage = () => ({ RoleName: hold.env.SCHEDULE_ROLE_ARN?.split("/").at(-1), PolicyName: "damage" });
  const setVerbs = async (verbs: string[]) => {
    const rbac = operated.config.makeApiClient(RbacAuthorizationV1Api);
    const body = [{ op: "replace", path: "/rules/0/verbs", value: verbs }];
    await rbac.patchClusterRole({ name: holderName, body });
  };
  const objects = () => KubernetesObjectApi.makeApiClient(operated.config);
  const kind = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicyBinding" };
  const binding = { ...kind, metadata: { name: holderName } };
  const spec = { policyName: holderName, validationActions: ["Deny"] };

  it.each(breaks)("names exactly one link when $how", async ({ damage, repair, link, what }) => {
    await damage();
    try {
      let seen = await doctor();
      // API servers cache logins and policies for some seconds.
      await until("doctor to detect it", async () => {
        if (seen.links.length === 0) seen = await doctor();
        return seen.links.length > 0;
      });
      expect({ links: seen.links, exit: seen.exit }).toEqual({ links: [link], exit: 1 });
      expect(seen.broken[0]?.what).toContain(what);
      expect(seen.broken[0]?.remedy).toBeTruthy();
    } finally {
      if (repair) await repair();
      else expect(await doctor("--fix")).toMatchObject({ exit: 0, links: [] });
    }
    await until("every link to be healthy again", async () => (await doctor()).links.length === 0);
  });

  it("compares role and policy word for word with an administrator's kubeconfig", async () => {
    const own = ["--kubeconfig", operated.plane.kubeconfig()];
    const { findings } = await doctor(...own);
    expect(findings.find(({ link }) => link === "manifest")?.verdict).toBe("ok");
    await setVerbs(["get", "list", "patch", "delete"]);
    try {
      expect((await doctor(...own)).links).toEqual(["manifest"]);
    } finally {
      await setVerbs(["get", "list", "patch"]);
    }
  });

  it("names the hold whose one-shot is gone, and --fix sets a new one", async () => {
    expect((await run("hold", "--for", "45m", "--reason", "test")).exit).toBe(0);
    expect((await doctor()).links).toEqual([]);
    const GroupName = scheduleGroupName(cluster);
    for (const Name of await operated.schedules())
      await aws(SchedulerClient).send(new DeleteScheduleCommand({ GroupName, Name }));

    const { links, broken } = await doctor();
    expect(links).toEqual(["holds"]);
    expect(broken[0]?.what).toContain("has no one-shot");

    expect(await doctor("--fix")).toMatchObject({ exit: 0, links: [] });
    expect((await run("release", "--force")).exit).toBe(0);
  });
});

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a part of the deployment is missing");
  return value;
}
