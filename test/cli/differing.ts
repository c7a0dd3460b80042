import type { VpcConfigResponse } from "@aws-sdk/client-eks";
import * as v from "valibot";
import { nodePoolSchema } from "../../cli/advise/objects.ts";
import type { Account, FunctionFacts } from "../../cli/doctor/aws/account.ts";
import { unreachableFromOutside } from "../../lambda/aws/usable-cluster.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { Part } from "../../lambda/names.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  type Answers,
  aFunction,
  aHeldScope,
  aQueue,
  aRule,
  aSchedule,
  type Differing,
} from "./healthy-account.ts";

/** An account in which one function differs, or is missing. */
export const functionIs = (part: Part, about?: Partial<FunctionFacts>): Partial<Account> => ({
  functionOf: async (one) => (one === part ? about && aFunction(one, about) : aFunction(one)),
});
export const queueIs = (part: string, about?: Parameters<typeof aQueue>[1]): Partial<Account> => ({
  queue: async (urlOrArn) => {
    const name = urlOrArn.split(/[/:]/).at(-1) ?? "";
    return name === part ? about && aQueue(name, about) : aQueue(name);
  },
});
export const ruleIs = (about: Parameters<typeof aRule>[0]): Partial<Account> => ({
  launchRule: async () => aRule(about),
});
export const clusterIs = (about: object): Partial<Account> => ({
  cluster: async () => ({
    ...{ status: "ACTIVE", version: "1.36", authenticationMode: "API", unreachable: undefined },
    ...about,
  }),
});
export const endpointIs = (config: VpcConfigResponse) =>
  clusterIs({ unreachable: unreachableFromOutside("prod", config) });
export const insideCluster = (cluster: object): Differing => ({ check: { cluster } });
export const inRecord = (record: object): Differing => ({ check: { record } });

/** A problem that belongs to another rule than ours. */
export const otherPolicy = {
  Statement: [
    {
      ...{ Effect: "Allow", Principal: { Service: "events.amazonaws.com" }, Action: "sqs:SendMessage" },
      Condition: { ArnEquals: { "aws:SourceArn": "other" } },
    },
  ],
};
export const withoutHold = async (role: string) =>
  role.endsWith("/hold") ? undefined : ["karpenter-node-holder"];
export const since1970 = async (role: string) => (role.endsWith("/cluster-access") ? new Date(0) : undefined);
export const overdue = { ...aHeldScope, until: after(noon, -minutes(9)) };

export const functionsHave = (env: Readonly<Record<string, string>>): Partial<Account> => ({
  functionOf: async (part) => aFunction(part, { env: { ...aFunction(part).env, ...env } }),
});
export const heldUntil = (until: Date) => inRecord({ holds: [{ ...aHeldScope, until, nextLook: until }] });
export const nodePool = (
  disruption: Readonly<Record<string, unknown>>,
  annotations: Readonly<Record<string, string>> = {},
): Answers => ({
  findNodePools: async () => [
    v.parse(nodePoolSchema, {
      metadata: { name: "batch" },
      spec: { disruption, template: { metadata: { annotations } } },
    }),
  ],
});
export const refusedTo = (role: string, action: string): Partial<Account> => ({
  refused: async (roleArn, actions) =>
    roleArn.endsWith(role) ? actions.filter((one) => one === action) : [],
});
/** What stolen credentials of a function can create. */
export const forcing = aSchedule({ name: "backup", expression: "rate(1 minute)", input: '{"force":true}' });
export const in2040 = new Date("2040-01-01T00:00:00Z");
export const insideVpcBut = (part: Part): Partial<Account> => ({
  functionOf: async (one) => aFunction(one, { inVpc: one !== part }),
});
export const alsoDenied = {
  Statement: [
    ...Object(aQueue("launches").policy).Statement,
    {
      Effect: "Deny",
      Principal: "*",
      Action: "sqs:*",
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    },
    { Effect: "Deny", Principal: { AWS: "*" }, Action: ["sqs:SendMessage"] },
  ],
};
export const unexpected = (name: string) => () => {
  throw Object.assign(new Error("not now"), { name });
};
