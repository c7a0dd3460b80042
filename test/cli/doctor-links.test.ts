import type { VpcConfigResponse } from "@aws-sdk/client-eks";
import { describe, expect, it } from "vitest";
import type { Account } from "../../cli/doctor/aws/account.ts";
import type { LinkName } from "../../cli/doctor/finding.ts";
import { unreachableFromOutside } from "../../lambda/aws/endpoint.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  aCheck,
  aFunction,
  aHeldScope,
  anAccount,
  anAlarm,
  aQueue,
  aRule,
  broken,
  examined,
  none,
  warned,
} from "./healthy-account.ts";

describe("doctor, where one link is broken,", () => {
  const queueOf = (name: string, about: Parameters<typeof aQueue>[1]): Partial<Account> => ({
    queue: async (urlOrArn) => {
      const found = urlOrArn.split(/[/:]/).at(-1) ?? "";
      return found === name ? aQueue(found, about) : aQueue(found);
    },
  });
  const cluster = { status: "ACTIVE", version: "1.36", authenticationMode: "API", unreachable: undefined };
  const unreachable = (config: VpcConfigResponse) => ({
    ...cluster,
    unreachable: unreachableFromOutside("prod", config),
  });

  it.each<[how: string, about: Partial<Account>, link: LinkName, description: string]>([
    [
      "a function is missing",
      { functionOf: async (part) => (part === "sweep" ? undefined : aFunction(part)) },
      "functions",
      "no sweep function",
    ],
    [
      "a function is turned off",
      { functionOf: async (part) => aFunction(part, part === "hold" ? { reservedConcurrency: 0 } : {}) },
      "functions",
      "turned off",
    ],
    [
      "an update failed",
      { functionOf: async (part) => aFunction(part, part === "hold" ? { lastUpdate: "Failed" } : {}) },
      "functions",
      "update of",
    ],
    ["the rule is gone", { launchRule: none }, "rule", "no rule"],
    ["the rule is disabled", { launchRule: async () => aRule({ isEnabled: false }) }, "rule", "is disabled"],
    [
      "the rule does not match launches",
      { launchRule: async () => aRule({ pattern: { source: ["aws.ec2"] } }) },
      "rule",
      "does not match launches",
    ],
    [
      "the rule leads elsewhere",
      { launchRule: async () => aRule({ targets: [{ arn: "arn:elsewhere" }] }) },
      "target",
      "does not lead",
    ],
    [
      "the queue is gone",
      { queue: async (name) => (name.includes("launches") ? undefined : aQueue(name)) },
      "queue",
      "is gone",
    ],
    [
      "the queue's policy is gone",
      queueOf("launches", { policy: undefined }),
      "queue policy",
      "let the rule send",
    ],
    [
      "the policy is for another rule",
      queueOf("launches", {
        policy: {
          Statement: [
            {
              Effect: "Allow",
              Principal: { Service: "events.amazonaws.com" },
              Action: "sqs:SendMessage",
              Condition: { ArnEquals: { "aws:SourceArn": "other" } },
            },
          ],
        },
      }),
      "queue policy",
      "let the rule send",
    ],
    [
      "the mapping is disabled",
      { mapping: async () => ({ id: "m", state: "Disabled", lastResult: "" }) },
      "mapping",
      "Disabled",
    ],
    ["the mapping is gone", { mapping: none }, "mapping", "no event source mapping"],
    [
      "a dead-letter queue is gone",
      {
        queue: async (name) =>
          name.includes("undelivered") ? undefined : aQueue(name.split(/[/:]/).at(-1) ?? ""),
      },
      "dead letters",
      "events",
    ],
    ["the table is gone", { tableStatus: none }, "record", "is gone"],
    ["the schedule group is gone", { scheduleGroup: none }, "schedule group", "is gone"],
    ["the schedule role is gone", { role: none }, "schedule role", "is gone"],
    [
      "the schedule role trusts others",
      { role: async () => ({ trust: {} }) },
      "schedule role",
      "does not trust",
    ],
    ["nothing wakes the sweep", { ruleThatTargets: none }, "sweep", "no rule invokes"],
    [
      "the sweep's rule is disabled",
      { ruleThatTargets: async () => aRule({ isEnabled: false }) },
      "sweep",
      "disabled",
    ],
    ["there is no such cluster", { cluster: none }, "cluster", "no EKS cluster"],
    [
      "the cluster knows no access entries",
      { cluster: async () => ({ ...cluster, authenticationMode: "CONFIG_MAP" }) },
      "cluster",
      "aws-auth",
    ],
    [
      "the endpoint is private",
      { cluster: async () => unreachable({ endpointPublicAccess: false }) },
      "cluster",
      "private endpoint",
    ],
    [
      "the endpoint is public for some addresses only",
      { cluster: async () => unreachable({ publicAccessCidrs: ["203.0.113.0/24"] }) },
      "cluster",
      "answers 203.0.113.0/24 only",
    ],
    [
      "an access entry is gone",
      { accessGroups: async (role) => (role.endsWith("/hold") ? undefined : ["karpenter-node-holder"]) },
      "access entries",
      "has no access entry",
    ],
    [
      "the access function was killed and is an admin still",
      { adminSince: async (role) => (role.endsWith("/cluster-access") ? new Date(0) : undefined) },
      "access entries",
      "is an admin of prod since",
    ],
  ])("names exactly one link when %s", async (_, about, link, says) => {
    const findings = await examined(anAccount(about));
    expect(broken(findings)).toEqual([link]);
    const finding = findings.find(({ verdict }) => verdict === "fail");
    expect(finding?.what).toContain(says);
    expect(finding?.remedy).toBeTruthy();
  });

  it.each<[how: string, about: Parameters<typeof aCheck>[0], link: LinkName, description: string]>([
    [
      "the cluster refuses the login",
      { cluster: { works: false, because: "refused the login (401)" } },
      "login",
      "401",
    ],
    ["a right is missing", { cluster: { missingRights: ["patch nodes"] } }, "rights", "may not patch nodes"],
    ["the policy is missing", { cluster: { foreignChange: "admitted" } }, "policy", "missing or not bound"],
    [
      "the policy refuses our mark",
      { cluster: { ownChange: "refused", said: "denied" } },
      "policy",
      "denied",
    ],
    ["EC2 cannot be asked", { launches: { works: false, because: "no right" } }, "launches", "no right"],
    ["the record cannot be read", { record: { works: false, because: "no right" } }, "record", "no right"],
    [
      "a hold is overdue",
      { record: { holds: [{ ...aHeldScope, expiresAt: after(noon, -minutes(9)) }] } },
      "holds",
      "9m ago",
    ],
    [
      "the sweep has not run for long",
      { record: { lastSweep: after(noon, -hours(1)).toISOString() } },
      "sweep",
      "1h ago",
    ],
    ["no sweep ever ran", { record: { lastSweep: undefined } }, "sweep", "no sweep"],
  ])("names exactly one link when, inside the cluster, %s", async (_, about, link, says) => {
    const findings = await examined(anAccount(), { check: () => aCheck(about) });
    expect(broken(findings)).toEqual([link]);
    expect(findings.find(({ verdict }) => verdict === "fail")?.what).toContain(says);
  });

  it.each<[how: string, account: Partial<Account>, check: Parameters<typeof aCheck>[0], link: LinkName]>([
    ["letters in a dead-letter queue", queueOf("undelivered", { waiting: 3 }), {}, "dead letters"],
    ["an alarm that is on", { alarms: async () => [anAlarm("sweep-silent", "ALARM")] }, {}, "alarms"],
    ["no alarms at all", { alarms: async () => [] }, {}, "alarms"],
    ["needless rights", {}, { cluster: { needlessRights: ["delete nodes"] } }, "rights"],
    [
      "an old cluster without policies",
      {},
      { cluster: { foreignChange: "admitted", kubernetes: "v1.29.4" } },
      "policy",
    ],
    [
      "nodes stuck in deletion",
      {},
      { cluster: { stuck: [{ node: "a", since: noon.toISOString() }] } },
      "nodes",
    ],
    [
      "nodes that users hold",
      {},
      { cluster: { userHeld: [{ node: "a", since: after(noon, -hours(50)), by: "kubectl" }] } },
      "nodes",
    ],
    ["a cluster's clock that is off", {}, { cluster: { clusterTime: after(noon, minutes(5)) } }, "clock"],
  ])("warns of %s without failing", async (_, about, check, link) => {
    const findings = await examined(anAccount(about), { check: () => aCheck(check) });
    expect(broken(findings)).toEqual([]);
    expect(warned(findings).map((one) => one.link)).toEqual([link]);
  });
});
