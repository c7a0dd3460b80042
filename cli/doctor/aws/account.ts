import type { ClusterFacts } from "../../../lambda/aws/usable-cluster.ts";
import type { Part } from "../../../lambda/names.ts";

export type FunctionFacts = Readonly<{
  name: string;
  arn: string;
  roleArn: string;
  state: string;
  lastUpdate: string;
  /** When it was last deployed or reconfigured. */
  changedAt?: Date;
  inVpc: boolean;
  env: Readonly<Record<string, string>>;
  /** 0: it was turned off. */
  reservedConcurrency?: number;
  /** The destination of asynchronous invocations that failed. */
  failuresArn?: string;
}>;

type TargetFacts = Readonly<{ arn: string; deadLetterArn?: string }>;
export type RuleFacts = Readonly<{
  name: string;
  arn: string;
  isEnabled: boolean;
  pattern: unknown;
  targets: readonly TargetFacts[];
}>;

export type QueueFacts = Readonly<{
  url: string;
  arn: string;
  waiting: number;
  inFlight: number;
  policy: unknown;
  deadLetterArn?: string;
}>;

export type MappingFacts = Readonly<{ id: string; state: string; lastResult: string }>;
/** `description` ends with a link to the runbook; `notifies` if anyone is notified of it. */
export type AlarmFacts = Readonly<{
  name: string;
  description: string;
  state: string;
  notifies: boolean;
  since?: Date;
}>;

export type ScheduleFacts = Readonly<{
  name: string;
  isEnabled: boolean;
  expression: string;
  targetArn: string;
  input: string;
}>;

/** What doctor reads and fixes in AWS; undefined where a resource does not exist. */
export interface Account {
  identity(): Promise<Readonly<{ account: string; arn: string }>>;
  /** The clusters that have a holder here; undefined without the right to list them. */
  holders(): Promise<readonly string[] | undefined>;
  functionOf(part: Part): Promise<FunctionFacts | undefined>;
  /** The rule that matches this cluster's probes, whatever its name and target. */
  launchRule(): Promise<RuleFacts | undefined>;
  ruleThatTargets(arn: string): Promise<RuleFacts | undefined>;
  queue(urlOrArn: string): Promise<QueueFacts | undefined>;
  mapping(functionName: string, queueArn: string): Promise<MappingFacts | undefined>;
  tableStatus(name: string): Promise<string | undefined>;
  scheduleGroup(name: string): Promise<string | undefined>;
  /** Every schedule of a group; a thousand at most. */
  schedules(group: string): Promise<readonly ScheduleFacts[]>;
  role(arn: string): Promise<Readonly<{ trust: unknown }> | undefined>;
  /** Which of these actions on a resource the policies of a role do not allow. */
  refused(roleArn: string, actions: readonly string[], resource: string): Promise<readonly string[]>;
  cluster(): Promise<ClusterFacts | undefined>;
  /** The groups of a principal's access entry. */
  accessGroups(principalArn: string): Promise<readonly string[] | undefined>;
  /** Since when a principal has the access policy of cluster admins. */
  adminSince(principalArn: string): Promise<Date | undefined>;
  /** Those of these alarms that exist. */
  alarms(names: readonly string[]): Promise<readonly AlarmFacts[]>;
  /** Invokes a function, and returns its answer; throws the error that it reports. */
  invoke(part: Part, payload: object): Promise<unknown>;

  putProbe(id: string, sentAt: Date): Promise<void>;
  enableRule(name: string): Promise<void>;
  enableMapping(id: string): Promise<void>;
  letRuleSend(queue: QueueFacts, ruleArn: string): Promise<void>;
  admit(principalArn: string): Promise<void>;
  /** Deletes the access entry of a principal, and with it every policy that is associated. */
  deleteEntry(principalArn: string): Promise<void>;
}

const unreadable = "the answer cannot be read";

/** Text in an AWS answer, or undefined; proxies and emulators do not always answer by AWS's types. */
export function textIn(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new TypeError(unreadable);
  return value;
}

/** A number that AWS returns as text; 0 if there is none. */
export function countIn(value: unknown): number {
  const text = textIn(value) ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw new TypeError(unreadable);
  return Number(text);
}
