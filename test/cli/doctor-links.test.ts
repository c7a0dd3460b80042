import type { VpcConfigResponse } from "@aws-sdk/client-eks";
import { describe, expect, it } from "vitest";
import type { Account, FunctionFacts } from "../../cli/doctor/aws/account.ts";
import { findingJson, findingView, type LinkName, verdictView } from "../../cli/doctor/finding.ts";
import { unreachableFromOutside } from "../../lambda/aws/usable-cluster.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import type { Part } from "../../lambda/names.ts";
import { version } from "../../lambda/version.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  aFunction,
  aHeldScope,
  anAlarm,
  aQueue,
  aRule,
  broken,
  type Differing,
  examined,
  none,
  warned,
} from "./healthy-account.ts";

/** An account in which one function differs, or is missing. */
const functionIs = (part: Part, about?: Partial<FunctionFacts>): Partial<Account> => ({
  functionOf: async (one) => (one === part ? about && aFunction(one, about) : aFunction(one)),
});
const queueIs = (part: string, about?: Parameters<typeof aQueue>[1]): Partial<Account> => ({
  queue: async (urlOrArn) => {
    const name = urlOrArn.split(/[/:]/).at(-1) ?? "";
    return name === part ? about && aQueue(name, about) : aQueue(name);
  },
});
const ruleIs = (about: Parameters<typeof aRule>[0]): Partial<Account> => ({
  launchRule: async () => aRule(about),
});
const clusterIs = (about: object): Partial<Account> => ({
  cluster: async () => ({
    ...{ status: "ACTIVE", version: "1.36", authenticationMode: "API", unreachable: undefined },
    ...about,
  }),
});
const endpointIs = (config: VpcConfigResponse) =>
  clusterIs({ unreachable: unreachableFromOutside("prod", config) });
const insideCluster = (cluster: object): Differing => ({ check: { cluster } });
const inRecord = (record: object): Differing => ({ check: { record } });

/** A problem that belongs to another rule than ours. */
const otherPolicy = {
  Statement: [
    {
      ...{ Effect: "Allow", Principal: { Service: "events.amazonaws.com" }, Action: "sqs:SendMessage" },
      Condition: { ArnEquals: { "aws:SourceArn": "other" } },
    },
  ],
};
const withoutHold = async (role: string) => (role.endsWith("/hold") ? undefined : ["karpenter-node-holder"]);
const since1970 = async (role: string) => (role.endsWith("/cluster-access") ? new Date(0) : undefined);
const overdue = { ...aHeldScope, expiresAt: after(noon, -minutes(9)) };

const brokenLinks: readonly [how: string, differing: Differing, link: LinkName, description: string][] = [
  ["a function is missing", functionIs("sweep"), "functions", "no sweep function"],
  ["a function is turned off", functionIs("hold", { reservedConcurrency: 0 }), "functions", "turned off"],
  ["an update failed", functionIs("hold", { lastUpdate: "Failed" }), "functions", "update of"],
  ["the rule is gone", { launchRule: none }, "rule", "no rule"],
  ["the rule is disabled", ruleIs({ isEnabled: false }), "rule", "is disabled"],
  [
    "the rule does not match",
    ruleIs({ pattern: { source: ["aws.ec2"] } }),
    "rule",
    "does not match launches",
  ],
  ["the rule leads elsewhere", ruleIs({ targets: [{ arn: "arn:elsewhere" }] }), "target", "does not lead"],
  ["the queue is gone", queueIs("launches"), "queue", "is gone"],
  ["its policy is gone", queueIs("launches", { policy: undefined }), "queue policy", "let the rule send"],
  [
    "its policy is another's",
    queueIs("launches", { policy: otherPolicy }),
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
  ["a dead-letter queue is gone", queueIs("undelivered"), "dead letters", "events"],
  ["the table is gone", { tableStatus: none }, "record", "is gone"],
  ["the schedule group is gone", { scheduleGroup: none }, "schedule group", "is gone"],
  ["that group is going", { scheduleGroup: async () => "DELETING" }, "schedule group", "is DELETING"],
  ["the schedule role is gone", { role: none }, "schedule role", "is gone"],
  ["that role trusts others", { role: async () => ({ trust: {} }) }, "schedule role", "does not trust"],
  ["nothing wakes the sweep", { ruleThatTargets: none }, "sweep", "no rule invokes"],
  [
    "the sweep's rule is disabled",
    { ruleThatTargets: async () => aRule({ isEnabled: false }) },
    "sweep",
    "disabled",
  ],
  ["there is no such cluster", { cluster: none }, "cluster", "no EKS cluster"],
  ["it knows no access entries", clusterIs({ authenticationMode: "CONFIG_MAP" }), "cluster", "aws-auth"],
  ["the endpoint is private", endpointIs({ endpointPublicAccess: false }), "cluster", "private endpoint"],
  [
    "the endpoint is public for some addresses only",
    endpointIs({ publicAccessCidrs: ["203.0.113.0/24"] }),
    "cluster",
    "answers 203.0.113.0/24 only",
  ],
  ["an access entry is gone", { accessGroups: withoutHold }, "access entries", "has no access entry"],
  [
    "the access function was killed and is an admin still",
    { adminSince: since1970 },
    "access entries",
    "is an admin of prod since",
  ],
  [
    "the cluster refuses the login",
    insideCluster({ works: false, because: "refused the login (401)" }),
    "login",
    "401",
  ],
  ["a right is missing", insideCluster({ missingRights: ["patch nodes"] }), "rights", "may not patch nodes"],
  ["the policy is missing", insideCluster({ foreignChange: "admitted" }), "policy", "missing or not bound"],
  [
    "the policy refuses our mark",
    insideCluster({ ownChange: "refused", said: "denied" }),
    "policy",
    "denied",
  ],
  [
    "EC2 cannot be asked",
    { check: { launches: { works: false, because: "no right" } } },
    "launches",
    "no right",
  ],
  ["the record cannot be read", inRecord({ works: false, because: "no right" }), "record", "no right"],
  ["a hold is overdue", inRecord({ holds: [overdue] }), "holds", "9m ago"],
  [
    "a hold's one-shot is gone",
    { scheduleExists: async () => false, ...inRecord({ holds: [aHeldScope] }) },
    "holds",
    "has no one-shot",
  ],
  [
    "the sweep has not run for long",
    inRecord({ lastSweep: after(noon, -hours(1)).toISOString() }),
    "sweep",
    "1h ago",
  ],
  ["no sweep ever ran", inRecord({ lastSweep: undefined }), "sweep", "no sweep"],
];

const warnings: readonly [how: string, differing: Differing, link: LinkName][] = [
  ["letters in a dead-letter queue", queueIs("undelivered", { waiting: 3 }), "dead letters"],
  ["an alarm that is on", { alarms: async () => [anAlarm("sweep-silent", "ALARM")] }, "alarms"],
  ["no alarms at all", { alarms: async () => [] }, "alarms"],
  ["needless rights", insideCluster({ needlessRights: ["delete nodes"] }), "rights"],
  ["a missing right to list pods", insideCluster({ missingRights: ["list pods"] }), "rights"],
  [
    "an old cluster without policies",
    insideCluster({ foreignChange: "admitted", kubernetes: "v1.29.4" }),
    "policy",
  ],
  ["nodes stuck in deletion", insideCluster({ stuck: [{ node: "a", since: noon.toISOString() }] }), "nodes"],
  [
    "nodes that users hold",
    insideCluster({ userHeld: [{ node: "a", since: after(noon, -hours(50)), by: "kubectl" }] }),
    "nodes",
  ],
  ["a cluster's clock that is off", insideCluster({ clusterTime: after(noon, minutes(5)) }), "clock"],
];

const many = <T>(count: number, one: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => one(n));
const since = after(noon, -hours(50)).toISOString();
const denied = async () => Promise.reject(Object.assign(new Error("no"), { name: "AccessDeniedException" }));
const untried = { foreignChange: "not tried", ownChange: "not tried" };
const toAnyone = { Statement: [{ Effect: "Allow", Principal: "*", Action: "sqs:*" }] };
const others: readonly [how: string, differing: Differing][] = [
  ["a function is pending", functionIs("hold", { state: "Pending" })],
  ["a function cannot start", functionIs("hold", { state: "Failed" })],
  ["the table is not ready", { tableStatus: async () => "CREATING" }],
  [
    "an alarm is on for a while",
    { alarms: async () => [{ ...anAlarm("sweep-silent", "ALARM"), since: after(noon, -hours(3)) }] },
  ],
  ["a hold is being released", inRecord({ holds: [{ ...aHeldScope, state: "releasing" }] })],
  ["there is no node", insideCluster({ ...untried, nodes: 0 })],
  ["no node could be tried", insideCluster({ ...untried, said: "no" })],
  ["nodes may not be listed", insideCluster({ ...untried, nodes: 0, missingRights: ["list nodes"] })],
  ["demand is not seen", insideCluster({ missingRights: ["list nodeclaims", "list events"] })],
  ["rights are needless", insideCluster({ needlessRights: ["delete nodes", "delete pods"] })],
  [
    "many nodes are not right",
    insideCluster({
      stuck: many(21, (n) => ({ node: `s${n}`, since })),
      userHeld: many(6, (n) => ({ node: `u${n}`, since, ...(n > 1 && { by: "kubectl" }) })),
      ineffective: many(7, (n) => ({ node: `i${n}`, value: "1h" })),
    }),
  ],
  [
    "the mapping has trouble",
    { mapping: async () => ({ id: "m", state: "Enabled", lastResult: "PROBLEM" }) },
  ],
  ["anyone may send to the queue", queueIs("launches", { policy: toAnyone })],
  ["there is no dead-letter queue", ruleIs({ targets: [{ arn: aQueue("launches").arn }] })],
  ["little may be read", { role: denied, alarms: denied, tableStatus: denied, launchRule: denied }],
];

describe("doctor, where one link is broken,", () => {
  it.each(brokenLinks)("names exactly one link when %s", async (_, differing, link, says) => {
    const findings = await examined(differing);
    expect(broken(findings)).toEqual([link]);
    const finding = findings.find(({ verdict }) => verdict === "fail");
    expect(finding?.what).toContain(says);
    expect(finding?.remedy).toBeTruthy();
  });

  it.each(warnings)("warns of %s without failing", async (_, differing, link) => {
    const findings = await examined(differing);
    expect(broken(findings)).toEqual([]);
    expect(warned(findings).map((one) => one.link)).toEqual([link]);
  });

  // A change is accepted with `npx vitest run test/cli/doctor-links --update`, and read in the diff.
  it("prints what was reviewed", async () => {
    const printed: string[] = [];
    for (const [how, differing] of [
      ["nothing is broken", {}] as const,
      ...brokenLinks,
      ...warnings,
      ...others,
    ]) {
      const findings = await examined(differing);
      const styled = (style: unknown, text: string) => `<${style}>${text}</>`;
      const shown = findings.filter(({ verdict }) => how.startsWith("nothing") || verdict !== "ok");
      const fixes = findings.filter(({ fix }) => fix).map((one) => JSON.stringify(findingJson(one)));
      printed.push(`# ${how}: ${verdictView(findings, styled)}`);
      printed.push(...shown.flatMap((one) => findingView(one, styled)), ...fixes, "");
    }
    await expect(printed.join("\n").replaceAll(version, "VERSION")).toMatchFileSnapshot("printed/doctor.txt");
  });
});
