import type { VpcConfigResponse } from "@aws-sdk/client-eks";
import { describe, expect, it } from "vitest";
import { RefusedRequest } from "../../cli/control/client.ts";
import type { Account } from "../../cli/doctor/aws/account.ts";
import type { Finding, LinkName } from "../../cli/doctor/finding.ts";
import { applyFixes } from "../../cli/doctor/fixes.ts";
import { findingView, verdictView } from "../../cli/doctor/view.ts";
import { unreachableFromOutside } from "../../lambda/aws/endpoint.ts";
import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, hours, minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Part } from "../../lambda/names.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { aCheck, aFunction, anAccount, anAlarm, aQueue, aRule, aTrip, examined } from "./healthy-account.ts";

const broken = (findings: readonly Finding[]) =>
  findings.filter(({ verdict }) => verdict === "fail").map(({ link }) => link);
const warned = (findings: readonly Finding[]) => findings.filter(({ verdict }) => verdict === "warn");
const none = async () => undefined;
const denied = async () => {
  throw Object.assign(new Error("not allowed"), { name: "AccessDeniedException" });
};

describe("doctor", () => {
  it("finds every link healthy in a healthy account", async () => {
    const findings = await examined(anAccount());
    expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(verdictView(findings, (_, text) => text)).toBe("All links hold.");
  });

  it("reports each hop of the probe", async () => {
    const probe = (await examined(anAccount())).find(({ link }) => link === "probe");
    expect(probe?.what).toBe("bus to queue 120 ms, queue to function 1380 ms, function to record 0 ms");
  });

  const hold = { scope: "cluster", id: "hold-1", state: "held" };
  const inTime = { ...hold, expiresAt: after(noon, minutes(20)), armedFor: after(noon, minutes(20)) };
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
    ["the mapping is gone", { mapping: none }, "mapping", "nothing brings"],
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
    ["nothing wakes the sweep", { ruleThatTargets: none }, "sweep", "nothing wakes"],
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
      { record: { holds: [{ ...inTime, expiresAt: after(noon, -minutes(9)) }] } },
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

  it("waits for the first sweep after a deployment, but not for long", async () => {
    const check = () => aCheck({ record: { lastSweep: undefined } });
    const deployed = (ago: Duration) =>
      anAccount({ functionOf: async (part) => aFunction(part, { changedAt: after(noon, -ago) }) });
    const fresh = await examined(deployed(minutes(4)), { check });
    expect(fresh.find(({ link }) => link === "sweep")).toMatchObject({ verdict: "warn", remedy: "Wait 5m." });
    expect(broken(await examined(deployed(minutes(8)), { check }))).toEqual(["sweep"]);
  });

  it("names a hold whose one-shot is gone", async () => {
    const check = () => aCheck({ record: { holds: [inTime] } });
    const findings = await examined(anAccount({ scheduleExists: async () => false }), { check });
    expect(broken(findings)).toEqual(["holds"]);
  });

  it("finds the one-shot of a new hold before the record names it", async () => {
    const { armedFor: _, ...beginning } = inTime;
    const check = () => aCheck({ record: { holds: [beginning] } });
    const named = scheduleName(inTime.id, inTime.expiresAt);
    const scheduleExists = async (_group: string, name: string) => name === named;
    expect(broken(await examined(anAccount({ scheduleExists }), { check }))).toEqual([]);
    expect(broken(await examined(anAccount({ scheduleExists: async () => false }), { check }))).toEqual([
      "holds",
    ]);
  });

  it("does not require a one-shot that may have fired a moment ago", async () => {
    const due = { ...inTime, armedFor: after(noon, -minutes(1)) };
    const check = () => aCheck({ record: { holds: [due] } });
    expect(broken(await examined(anAccount({ scheduleExists: async () => false }), { check }))).toEqual([]);
  });

  it("reports the consequences of a broken link as consequences", async () => {
    const check = () => aCheck({ cluster: { works: false, because: "refused the login (401)" } });
    const findings = await examined(anAccount({ accessGroups: none }), { check });
    expect(new Set(broken(findings))).toEqual(new Set(["access entries"]));
    expect(findings.find(({ link }) => link === "login")).toMatchObject({
      verdict: "skipped",
      what: expect.stringContaining('follows from "access entries"'),
    });
  });

  it("does not blame the ClusterRole when the functions are not in its group", async () => {
    const cluster = { missingRights: ["get nodes"], foreignChange: "not tried", ownChange: "not tried" };
    const strangers = anAccount({ accessGroups: async () => ["strangers"] });
    const findings = await examined(strangers, { check: () => aCheck({ cluster }) });
    expect(new Set(broken(findings))).toEqual(new Set(["access entries"]));
  });

  it("sends no probe when a link on its way is broken", async () => {
    const account = anAccount({ mapping: none });
    const findings = await examined(account);
    expect(account.did).toEqual([]);
    expect(findings.at(-1)).toMatchObject({ link: "probe", verdict: "skipped" });
  });

  it("fails when a probe is lost although every link is healthy", async () => {
    expect(broken(await examined(anAccount(), { probe: () => null }))).toEqual(["probe"]);
  });

  it("names code of another version: a warning when all functions have it, a failure when they are mixed", async () => {
    const old = await examined(anAccount(), {
      check: () => aCheck({ version: "0.0.1" }),
      probe: () => aTrip({ version: "0.0.1" }),
    });
    expect(warned(old).map(({ link }) => link)).toEqual(["code"]);
    expect(broken(old)).toEqual([]);
    const mixed = await examined(anAccount(), { probe: () => aTrip({ version: "0.0.1" }) });
    expect(broken(mixed)).toEqual(["code"]);
  });

  it("shows an alarm's text, which links to the runbook", async () => {
    const alarms = async () => [anAlarm("function-errors-hold", "ALARM"), anAlarm("sweep-silent", "OK")];
    expect(warned(await examined(anAccount({ alarms })))).toMatchObject([
      { what: "function-errors-hold is on", remedy: expect.stringMatching(/^What it is about\. See docs/) },
    ]);
  });

  it("names code too old to check itself", async () => {
    const check = () => {
      throw new RefusedRequest("do must be status, history", "Nothing was changed.");
    };
    expect(broken(await examined(anAccount(), { check }))).toEqual(["code"]);
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

  it("names nodes and NodePools whose annotation protects nothing, and what does", async () => {
    const check = () => aCheck({ cluster: { ineffective: [{ node: "a", value: "30m" }] } });
    const findIneffectiveTemplates = async () => [{ nodePool: "batch", value: "4h" }];
    const [finding] = warned(await examined(anAccount(), { check, findIneffectiveTemplates }));
    expect(finding?.what).toBe(
      'karpenter.sh/do-not-disrupt protects nothing on the template of NodePool batch ("4h"), node a ("30m")',
    );
    expect(finding?.remedy).toContain('Write "true"');
  });

  it.each([
    [3, "3m ahead of"],
    [-3, "3m behind"],
  ])("warns when this machine's clock is off by %i minutes, and says by how much", async (off, says) => {
    const clock = new VirtualClock(after(noon, minutes(off)));
    const [finding] = warned(await examined(anAccount(), { clock }));
    expect(finding?.what).toBe(`this machine's clock is ${says} the functions'`);
  });

  it.each([
    [Karpenter.v1.annotation, "npx karpenter-node-holder manifest | kubectl apply -f -"],
    [
      "example.com/stay",
      "npx karpenter-node-holder manifest --hold-annotation example.com/stay | kubectl apply -f -",
    ],
  ])(
    "has rights and policy written again for the annotation that is put: %s",
    async (HOLD_ANNOTATION, remedy) => {
      const functionOf = async (part: Part) => {
        const { env } = aFunction(part);
        return aFunction(part, { env: { ...env, HOLD_ANNOTATION } });
      };
      const check = () => aCheck({ cluster: { foreignChange: "admitted" } });
      const findings = await examined(anAccount({ functionOf }), { check });
      expect(findings.find(({ link }) => link === "policy")).toMatchObject({ verdict: "fail", remedy });
    },
  );

  it("does not test the policy without a node", async () => {
    const check = () => aCheck({ cluster: { nodes: 0, foreignChange: "not tried", ownChange: "not tried" } });
    const findings = await examined(anAccount(), { check });
    expect(findings.find(({ link }) => link === "policy")).toMatchObject({ verdict: "skipped" });
    expect(broken(findings)).toEqual([]);
  });

  it.each([
    ["different", "fail", "ClusterRole is not as we write it"],
    ["missing", "fail", "ClusterRole is missing"],
    ["unknown to this cluster", "warn", "knows no ClusterRole"],
    ["right", "ok", "as we write them"],
  ] as const)("compares role and policy with the user's kubeconfig: %s", async (state, verdict, says) => {
    const compareManifest = async () => [{ kind: "ClusterRole", state }];
    const findings = await examined(anAccount(), { compareManifest });
    expect(findings.find(({ link }) => link === "manifest")).toMatchObject({
      verdict,
      what: expect.stringContaining(says),
    });
  });

  it("blames no queue for a rule that it may not read", async () => {
    const findings = await examined(anAccount({ launchRule: denied }));
    expect(broken(findings)).toEqual([]);
    expect(warned(findings)).toMatchObject([{ link: "rule", what: "could not be checked: not allowed" }]);
  });

  it("warns of what it may not read, and continues", async () => {
    const findings = await examined(anAccount({ role: denied, alarms: denied }));
    expect(warned(findings).map(({ link }) => link)).toEqual(["schedule role", "alarms"]);
    expect(broken(findings)).toEqual([]);
  });

  it("stops at credentials that have expired", async () => {
    const expired = async () => {
      throw Object.assign(new Error("expired"), { name: "ExpiredTokenException" });
    };
    const findings = await examined(anAccount({ identity: expired }));
    expect(findings.map(({ link, verdict }) => [link, verdict])).toEqual([["credentials", "fail"]]);
  });

  it("blames the network, and not the credentials, where AWS cannot be reached", async () => {
    const unreachable = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND sts.example"), { code: "ENOTFOUND" });
    };
    expect(await examined(anAccount({ identity: unreachable }))).toMatchObject([
      {
        what: "AWS could not be reached (getaddrinfo ENOTFOUND sts.example)",
        remedy: "Check the network, --region and --endpoint-url.",
      },
    ]);
  });

  it("lists the holders there are where this cluster has none", async () => {
    const [, finding] = await examined(anAccount({ functionOf: none, holders: async () => ["staging"] }));
    expect(finding?.remedy).toBe("Holders found here: staging.");
  });
});

describe("fixes", () => {
  it("runs each action once, and reports which failed", async () => {
    const reported: string[] = [];
    const account = anAccount({ enableRule: () => Promise.reject(new Error("not allowed")) });
    const about = {
      launchRule: async () => aRule({ isEnabled: false }),
      mapping: async () => ({ id: "m", state: "Disabled", lastResult: "" }),
    };
    const findings = await examined({ ...account, ...about });
    expect(await applyFixes(findings, (line) => reported.push(line))).toBe(true);
    expect(account.did).toEqual(["enable mapping"]);
    expect(reported).toEqual([
      "Could not enable rule launches: not allowed",
      "Fixed: enable the event source mapping.",
    ]);
  });

  it("take an admin right that a killed access function left, and no right of one still at work", async () => {
    const leftSince = (since: Date) =>
      anAccount({ adminSince: async (role) => (role.endsWith("/cluster-access") ? since : undefined) });
    const killed = leftSince(new Date(0));
    expect(await applyFixes(await examined(killed), () => {})).toBe(true);
    expect(killed.did).toContain("delete entry");

    const working = leftSince(noon);
    expect(await applyFixes(await examined(working), () => {})).toBe(false);
    expect(working.did).not.toContain("delete entry");
  });

  it("reports that nothing can be repaired automatically", async () => {
    const reported: string[] = [];
    expect(
      await applyFixes(await examined(anAccount({ tableStatus: none })), (line) => reported.push(line)),
    ).toBe(false);
    expect(reported).toEqual(["There is nothing to fix from here."]);
  });
});

it("shows a finding with its remedy below", () => {
  const finding: Finding = { link: "rule", verdict: "fail", what: "it is disabled", remedy: "enable it" };
  expect(findingView(finding, (_, text) => text)).toEqual([
    "✗ rule            it is disabled",
    "                  → enable it",
  ]);
});
