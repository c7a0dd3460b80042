import type { Ask } from "../../cli/control/client.ts";
import type { Account, FunctionFacts, QueueFacts, RuleFacts } from "../../cli/doctor/aws/account.ts";
import type { Doctor } from "../../cli/doctor/doctor.ts";
import { examine } from "../../cli/doctor/examine.ts";
import type { Finding } from "../../cli/doctor/finding.ts";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { launchesAndProbes } from "../../lambda/handlers/event-sources.ts";
import { functionName, type Part } from "../../lambda/names.ts";
import { version } from "../../lambda/version.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { someRules } from "../support/builders.ts";

const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:123456789012:${name}`;

export const aFunction = (part: Part, about: Partial<FunctionFacts> = {}): FunctionFacts => ({
  name: functionName("prod", part),
  arn: arn("lambda", `function:${functionName("prod", part)}`),
  roleArn: `arn:aws:iam::123456789012:role/${part}`,
  state: "Active",
  lastUpdate: "Successful",
  inVpc: false,
  env: {
    HOLD_TABLE: "holds",
    LAUNCH_QUEUE_URL: "https://sqs/launches",
    SCHEDULE_GROUP: "karpenter-node-holder-prod",
    SCHEDULE_ROLE_ARN: "arn:aws:iam::123456789012:role/schedules",
    SWEEP_EVERY: "5m",
  },
  failuresArn: arn("sqs", "failures"),
  ...about,
});

export const anAlarm = (name: string, state: string) => ({
  name: `karpenter-node-holder-prod-${name}`,
  description:
    "What it is about. First: npx karpenter-node-holder doctor --cluster prod. See docs/operating.md#where-to-read-on",
  state,
});

export const aRule = (about: Partial<RuleFacts> = {}): RuleFacts => ({
  name: "launches",
  arn: arn("events", "rule/launches"),
  isEnabled: true,
  pattern: launchesAndProbes({
    cluster: "prod",
    account: "123456789012",
    region: "eu-west-1",
    probeKey: "k",
  }),
  targets: [{ arn: arn("sqs", "launches"), deadLetterArn: arn("sqs", "undelivered") }],
  ...about,
});

export const aQueue = (name: string, about: Partial<QueueFacts> = {}): QueueFacts => ({
  url: `https://sqs/${name}`,
  arn: arn("sqs", name),
  waiting: 0,
  inFlight: 0,
  policy: {
    Statement: [
      {
        Effect: "Allow",
        Principal: { Service: "events.amazonaws.com" },
        Action: ["sqs:SendMessage", "sqs:GetQueueUrl"],
        Condition: { ArnEquals: { "aws:SourceArn": arn("events", "rule/launches") } },
      },
    ],
  },
  deadLetterArn: arn("sqs", "dead-letters"),
  ...about,
});

/** An account in which every link works, except those that a test breaks; `did` lists what was changed. */
export function anAccount(about: Partial<Account> = {}): Account & { did: string[] } {
  const did: string[] = [];
  const doing = (action: string) => async () => void did.push(action);
  return {
    did,
    identity: async () => ({ account: "123456789012", arn: "arn:aws:iam::123456789012:user/me" }),
    holders: async () => ["prod"],
    functionOf: async (part) => aFunction(part),
    launchRule: async () => aRule(),
    ruleThatTargets: async () => aRule({ name: "sweep" }),
    queue: async (urlOrArn) => aQueue(urlOrArn.split(/[/:]/).at(-1) ?? ""),
    mapping: async () => ({ id: "m", state: "Enabled", lastResult: "OK" }),
    tableStatus: async () => "ACTIVE",
    scheduleGroup: async () => "ACTIVE",
    scheduleExists: async () => true,
    role: async () => ({ trust: { Statement: [{ Principal: { Service: "scheduler.amazonaws.com" } }] } }),
    cluster: async () => ({
      status: "ACTIVE",
      version: "1.36",
      authenticationMode: "API",
      unreachable: undefined,
    }),
    accessGroups: async () => [holderName],
    adminSince: async () => undefined,
    alarms: async () => [anAlarm("dead-letters-launches", "OK")],
    putProbe: doing("probe"),
    enableRule: doing("enable rule"),
    enableMapping: doing("enable mapping"),
    letRuleSend: doing("let rule send"),
    admit: doing("admit"),
    deleteEntry: doing("delete entry"),
    sweepNow: doing("sweep"),
    ...about,
  };
}

/** What the control function of such an account answers to `check`. */
export const aCheck = (
  about: Readonly<{ record?: object; launches?: object; cluster?: object; version?: string }> = {},
) => ({
  version: about.version ?? version,
  at: noon.toISOString(),
  rules: someRules(),
  record: { works: true, holds: [], lastSweep: after(noon, -minutes(3)).toISOString(), ...about.record },
  launches: { works: true, recent: 2, ...about.launches },
  cluster: {
    works: true,
    kubernetes: "v1.36.1",
    missingRights: [],
    needlessRights: [],
    foreignChange: "refused",
    ownChange: "admitted",
    clusterTime: noon.toISOString(),
    nodes: 5,
    stuck: [],
    userHeld: [],
    ineffective: [],
    ...about.cluster,
  },
});

/** A probe that was answered after these hops. */
export const aTrip = (about: Readonly<{ version?: string }> = {}) => ({
  id: "doctor-1",
  sentAt: noon.toISOString(),
  queuedAt: after(noon, 120).toISOString(),
  answeredAt: after(noon, 1_500).toISOString(),
  version: about.version ?? version,
});

export type Answers = Pick<Doctor, "compareManifest" | "findIneffectiveTemplates" | "findCapacityBuffers"> &
  Readonly<{ probe?: () => unknown; clock?: VirtualClock }>;
/** What a test changes: in the account, and in control's answer to `check`. */
export type Differing = Partial<Account> &
  Readonly<{ check?: Parameters<typeof aCheck>[0] | (() => unknown) }>;

/** Examines a healthy account with these differences. */
export const examined = (differing: Differing = {}, answers?: Answers): Promise<readonly Finding[]> =>
  examinedAccount(anAccount(differing), differing.check, answers);

/** Examines this account, which notes what was done to it. */
export async function examinedAccount(
  account: Account,
  check?: Differing["check"],
  { probe = aTrip, clock = new VirtualClock(), ...rest }: Answers = {},
): Promise<readonly Finding[]> {
  const checked = typeof check === "function" ? check : () => aCheck(check);
  const ask: Ask = async ({ do: action }) => overTheWire(action === "check" ? checked() : { probe: probe() });
  const sleep = async (duration: Duration) => void clock.pass(duration + seconds(0));
  const doctor: Doctor = { cluster: "prod", account, ask, clock, sleep, ...rest };
  return examine(doctor, () => {});
}

const overTheWire = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer));

/** A hold whose one-shot is correct. */
export const aHeldScope = {
  scope: "cluster",
  id: "hold-1",
  state: "held",
  until: after(noon, minutes(20)),
  nextLook: after(noon, minutes(20)),
};

export const broken = (findings: readonly Finding[]) =>
  findings.filter(({ verdict }) => verdict === "fail").map(({ link }) => link);
export const warned = (findings: readonly Finding[]) => findings.filter(({ verdict }) => verdict === "warn");
export const none = async () => undefined;
