import type {
  Account,
  AlarmFacts,
  FunctionFacts,
  QueueFacts,
  RuleFacts,
  ScheduleFacts,
} from "../../cli/doctor/aws/aws-account.ts";
import type { Doctor } from "../../cli/doctor/doctor.ts";
import { examine } from "../../cli/doctor/examine.ts";
import type { Finding } from "../../cli/doctor/finding.ts";
import { Failure } from "../../cli/terminal/failure.ts";
import { launchesAndProbes } from "../../infra/event-pattern.ts";
import { functionName, type Part } from "../../infra/names.ts";
import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { scheduleAlias } from "../../lambda/environment.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { type aCheck, answering, answerOf, aTrip } from "./function-answers.ts";

const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:123456789012:${name}`;

const releaseArn = `${arn("lambda", `function:${functionName("prod", "release")}`)}:schedule`;

export const aFunction = (part: Part, about: Partial<FunctionFacts> = {}): FunctionFacts => ({
  name: functionName("prod", part),
  arn: arn("lambda", `function:${functionName("prod", part)}`),
  roleArn: `arn:aws:iam::123456789012:role/${part}`,
  state: "Active",
  lastUpdate: "Successful",
  changedAt: after(noon, -hours(1)),
  inVpc: false,
  env: {
    HOLD_TABLE: "holds",
    LAUNCH_QUEUE_URL: "https://sqs/launches",
    SCHEDULE_GROUP: "karpenter-node-holder-prod",
    SCHEDULE_ROLE_ARN: "arn:aws:iam::123456789012:role/schedules",
    RELEASE_FUNCTION_ARN: releaseArn,
    CLUSTER: "prod",
    SWEEP_EVERY: "5m",
  },
  reservedConcurrency: undefined,
  failuresArn: arn("sqs", "failures"),
  ...about,
});

export const anAlarm = (name: string, state: string, about: Partial<AlarmFacts> = {}): AlarmFacts => ({
  name: `karpenter-node-holder-prod-${name}`,
  description:
    "What it is about. First: npx karpenter-node-holder doctor --cluster prod. See docs/operating.md#where-to-read-on",
  state,
  notifies: true,
  since: after(noon, -hours(3)),
  ...about,
});

/** Every alarm of the cluster, where these differ. */
export const alarmsWith = (...differing: readonly AlarmFacts[]): Pick<Account, "alarms"> => ({
  alarms: async (names) =>
    names.map(
      (name) =>
        differing.find((one) => one.name === name) ??
        anAlarm(name.slice("karpenter-node-holder-prod-".length), "OK"),
    ),
});

export const aSchedule = (about: Partial<ScheduleFacts> = {}): ScheduleFacts => {
  const { id, nextLook } = aHeldScope;
  return {
    name: scheduleName(id, nextLook),
    isEnabled: true,
    expression: "at(2026-11-21T12:20:00)",
    targetArn: releaseArn,
    input: JSON.stringify({ scope: "cluster", holdId: id }),
    ...about,
  };
};

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
  deadLetterArn: arn("sqs", "undelivered"),
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
    identity: async () => "arn:aws:iam::123456789012:user/me",
    noHolder: async () => new Failure("there is no holder for cluster prod", "Holders found here: a, b."),
    functionOf: async (part) => aFunction(part),
    ruleTo: async (target) => aRule(target.includes("launches") ? {} : { name: "timer" }),
    queue: async (urlOrArn) => aQueue(urlOrArn.split(/[/:]/).at(-1) ?? ""),
    hasAlias: async (part, alias) => part === "release" && alias === scheduleAlias,
    mapping: async () => ({ id: "m", state: "Enabled", lastResult: "OK" }),
    schedules: async () => [aSchedule()],
    trust: async () => '{"Statement":[{"Principal":{"Service":"scheduler.amazonaws.com"}}]}',
    refused: async () => [],
    cluster: async () => ({
      status: "ACTIVE",
      version: "1.36",
      authenticationMode: "API",
      unreachable: undefined,
    }),
    accessGroups: async () => [holderName],
    adminSince: async () => undefined,
    ...alarmsWith(),
    unsent: async () => [],
    invoke: answering(async (part) => void did.push(part)),
    putProbe: doing("probe"),
    enableRule: doing("enable rule"),
    enableMapping: doing("enable mapping"),
    letRuleSend: doing("let rule send"),
    admit: doing("let in"),
    deleteEntry: doing("delete entry"),
    ...about,
  };
}

export type Answers = Pick<Doctor, "server" | "compareManifest" | "findNodePools" | "findCapacityBuffers"> &
  Readonly<{ probe?: (id: unknown) => unknown; history?: readonly object[] }>;
type Checked = Parameters<typeof aCheck>[0] | (() => unknown);
/** What a test changes: in the account, and in what each function, or one of them, answers to `check`. */
export type Differing = Partial<Account> &
  Readonly<{ check?: Checked; checks?: Readonly<Partial<Record<Part, Checked>>> }>;

/** Examines a healthy account with these differences. */
export const examined = (differing: Differing = {}, answers?: Answers): Promise<readonly Finding[]> =>
  examinedAccount(anAccount(differing), differing, answers);

/** Examines this account, which notes what was done to it. */
export async function examinedAccount(
  account: Account,
  { check, checks = {} }: Differing = {},
  { probe, history = [], ...rest }: Answers = {},
): Promise<readonly Finding[]> {
  const clock = new VirtualClock();
  const checkOf = (part: Part) => {
    const differing = checks[part] ?? check;
    return typeof differing === "function" ? differing() : answerOf(part, differing);
  };
  // The first time that doctor asks, a probe is still on its way.
  const trips = [undefined, aTrip()];
  const invoke = answering(account.invoke, { checkOf, probe: probe ?? (() => trips.shift()), history });
  const sleep = async (duration: Duration) => void clock.pass(duration + seconds(0));
  const doctor: Doctor = { cluster: "prod", account: { ...account, invoke }, clock, sleep, ...rest };
  return examine(doctor, () => {});
}

/** A hold whose one-shot is correct. */
export const aHeldScope = {
  scope: "cluster",
  id: holdId(1),
  state: "held",
  until: after(noon, minutes(20)),
  nextLook: after(noon, minutes(20)),
};

export const broken = (findings: readonly Finding[]) =>
  findings.filter(({ verdict }) => verdict === "fail").map(({ link }) => link);
export const warned = (findings: readonly Finding[]) => findings.filter(({ verdict }) => verdict === "warn");
