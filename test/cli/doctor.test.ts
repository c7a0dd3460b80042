import { describe, expect, it } from "vitest";
import type { Finding } from "../../cli/doctor/finding.ts";
import { findingView, verdictView } from "../../cli/doctor/view.ts";
import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Part } from "../../lambda/names.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import {
  aCheck,
  aFunction,
  aHeldScope,
  anAccount,
  anAlarm,
  aTrip,
  broken,
  examined,
  none,
  warned,
} from "./healthy-account.ts";

const denied = async () => {
  throw Object.assign(new Error("not allowed"), { name: "AccessDeniedException" });
};

describe("doctor", () => {
  it("finds every link healthy in a healthy account", async () => {
    const findings = await examined(anAccount());
    expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(verdictView(findings, (_, text) => text)).toBe("Every step works.");
  });

  it("reports each hop of the probe", async () => {
    const probe = (await examined(anAccount())).find(({ link }) => link === "probe");
    expect(probe?.what).toBe("bus to queue 120 ms, queue to function 1380 ms, function to record 0 ms");
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
    const check = () => aCheck({ record: { holds: [aHeldScope] } });
    const findings = await examined(anAccount({ scheduleExists: async () => false }), { check });
    expect(broken(findings)).toEqual(["holds"]);
  });

  it("finds the one-shot of a new hold before the record names it", async () => {
    const { armedFor: _, ...beginning } = aHeldScope;
    const check = () => aCheck({ record: { holds: [beginning] } });
    const named = scheduleName(aHeldScope.id, aHeldScope.expiresAt);
    const scheduleExists = async (_group: string, name: string) => name === named;
    expect(broken(await examined(anAccount({ scheduleExists }), { check }))).toEqual([]);
    expect(broken(await examined(anAccount({ scheduleExists: async () => false }), { check }))).toEqual([
      "holds",
    ]);
  });

  it("does not require a one-shot that may have fired a moment ago", async () => {
    const due = { ...aHeldScope, armedFor: after(noon, -minutes(1)) };
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
    ["different", "fail", "ClusterRole is not as in the manifest"],
    ["missing", "fail", "ClusterRole is missing"],
    ["unknown to this cluster", "warn", "has no ClusterRole"],
    ["right", "ok", "as in the manifest"],
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

it("shows a finding with its remedy below", () => {
  const finding: Finding = { link: "rule", verdict: "fail", what: "it is disabled", remedy: "enable it" };
  expect(findingView(finding, (_, text) => text)).toEqual([
    "✗ rule            it is disabled",
    "                  → enable it",
  ]);
});
