import * as v from "valibot";
import { nodePoolSchema } from "../../cli/advise/objects.ts";
import type { Account, AlarmFacts, FunctionFacts } from "../../cli/doctor/aws/aws-account.ts";
import type { AccessFinding } from "../../cli/doctor/own-kubernetes.ts";
import type { Part } from "../../infra/names.ts";
import { after, type Duration, hours } from "../../lambda/core/duration.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { explained, KubernetesError } from "../../lambda/kubernetes/error.ts";
import type { Settings } from "../../lambda/settings.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold } from "../support/builders.ts";
import {
  type Answers,
  aFunction,
  aHeldScope,
  alarmsWith,
  anAlarm,
  aQueue,
  aRule,
  aSchedule,
  type Differing,
} from "./healthy-account.ts";

type Env = Readonly<Record<string, string>>;

/** The parts of a call's answer: all of it, an error, or nothing where the resource is gone. */
export const gone = async () => undefined;
export const failing = (error: Error) => async () => Promise.reject(error);
export const named = (name: string, message = "no") => Object.assign(new Error(message), { name });
export const silent = (name: string) => () => {
  throw named(name, "not now");
};
export const denied = async () => Promise.reject(named("AccessDeniedException"));
export const many = <T>(count: number, one: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => one(n));
export const ago = (duration: Duration) => after(noon, -duration);

/** An account in which one function differs, or is missing. */
export const functionIs = (part: Part, about?: Partial<FunctionFacts>): Partial<Account> => ({
  functionOf: async (one) => (one === part ? about && aFunction(one, about) : aFunction(one)),
});
export const envOf = (part: Part, env: Env) => functionIs(part, { env: { ...aFunction(part).env, ...env } });
/** All functions have this in their environment. */
export const functionsHave = (env: Env): Partial<Account> => ({
  functionOf: async (part) => aFunction(part, { env: { ...aFunction("hold").env, ...env } }),
});

export const queueIs = (part: string, about?: Parameters<typeof aQueue>[1]): Partial<Account> => ({
  queue: async (urlOrArn) => {
    const name = urlOrArn.split(/[/:]/).at(-1) ?? "";
    return name === part ? about && aQueue(name, about) : aQueue(name);
  },
});
/** The launch queue has these statements in its policy. */
export const policyHas = (...Statement: readonly object[]) => queueIs("launches", { policy: { Statement } });
export const ruleIs = (about?: Parameters<typeof aRule>[0]): Partial<Account> => ({
  ruleTo: async (target) => (target.includes("launches") ? about && aRule(about) : aRule({ name: "timer" })),
});
export const timerIs = (about?: Parameters<typeof aRule>[0]): Partial<Account> => ({
  ruleTo: async (target) =>
    target.includes("launches") ? aRule() : about && aRule({ name: "timer", ...about }),
});
export const mappingIs = (state: string, lastResult = "OK"): Partial<Account> => ({
  mapping: async () => ({ id: "m", state, lastResult }),
});
export const clusterIs = (about: object): Partial<Account> => ({
  cluster: async () => ({
    ...{ status: "ACTIVE", version: "1.36", authenticationMode: "API", unreachable: undefined },
    ...about,
  }),
});
/** The role of the hold function is in this group of the cluster, or has no access entry. */
export const groupsOfHold = (...groups: readonly string[]): Partial<Account> => ({
  accessGroups: async (_, role) => {
    if (!role.endsWith("/hold")) return [holderName];
    return groups.length > 0 ? groups : undefined;
  },
});
export const adminSince = (since: Date): Partial<Account> => ({
  adminSince: async (_, role) => (role.endsWith("/cluster-access") ? since : undefined),
});
export const refusedTo = (role: string, action: string, on: string): Partial<Account> => ({
  refused: async (roleArn, actions, resource) =>
    roleArn.endsWith(role) && resource === on ? actions.filter((one) => one === action) : [],
});
export const schedulesAre = (...about: readonly Parameters<typeof aSchedule>[0][]): Partial<Account> => ({
  schedules: async () => about.map((one) => aSchedule(one)),
});
export const alarmIs = (state: string, about: Partial<AlarmFacts> = {}) =>
  alarmsWith(anAlarm("sweep-silent", state, about));

/** What each function answers to `check`. */
export const insideCluster = (cluster: object): Differing => ({ check: { cluster } });
export const inRecord = (record: object): Differing => ({ check: { record } });
export const withRules = (rules: Partial<Settings>, cluster: object = {}): Differing => ({
  check: { rules, cluster },
});
export const holding = (
  about: object,
  ...schedules: readonly Parameters<typeof aSchedule>[0][]
): Differing => ({
  ...inRecord({ holds: [{ ...aHeldScope, ...about }] }),
  ...schedulesAre(...schedules),
});
export const swept = (last: Duration) => inRecord({ lastSweep: ago(last) });

export const nodePool = (disruption: object): Answers => ({
  findNodePools: async () => [
    v.parse(nodePoolSchema, {
      metadata: { name: "batch" },
      spec: { disruption, template: {} },
    }),
  ],
});
export const leavesOut = (name: string) => withRules({ nodePools: { only: [], except: [name] } });
export const includes = (name: string) => withRules({ nodePools: { only: [name], except: [] } });
export const manifestIs = (...states: AccessFinding["state"][]): Answers => ({
  server: "https://10.0.0.1",
  compareManifest: async () =>
    states.map((state, n) => ({ kind: ["ClusterRole", "Policy"][n] ?? "", state })),
});
/** The cluster does not let the caller in, or does not let it read. */
export const ownIsRefused = (status: 401 | 403, message: string): Answers => {
  const refused = failing(explained(new KubernetesError("GET /path", status, { message })));
  return { server: "https://10.0.0.1", compareManifest: refused, findNodePools: refused };
};
/** History has a hold that reached its cap on each of these days ago, behind 20 younger ones that did not. */
export const cappedOn = (...daysAgo: readonly number[]): Answers => ({
  history: [...Array(20).fill(0), ...daysAgo].map((days, n) => {
    const endedAt = ago(hours(24 * days));
    return aPastHold({ capped: n >= 20, startedAt: after(endedAt, -hours(2)), endedAt });
  }),
});
export const buffers = (count: number): Answers => ({
  findCapacityBuffers: async () => many(count, (n) => `web/${n}`),
});
