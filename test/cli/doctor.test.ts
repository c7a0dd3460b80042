import { describe, expect, it } from "vitest";
import { applyFixes } from "../../cli/doctor/examination.ts";
import { verdictView } from "../../cli/doctor/finding.ts";
import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import {
  aFunction,
  aHeldScope,
  anAccount,
  anAlarm,
  aRule,
  aTrip,
  broken,
  examined,
  examinedAccount,
  none,
  of,
  warned,
} from "./healthy-account.ts";

const failingWith = (message: string, about: object) => async () => {
  throw Object.assign(new Error(message), about);
};
const denied = failingWith("not allowed", { name: "AccessDeniedException" });
const plain = (_: unknown, text: string) => text;

describe("doctor", () => {
  it("finds every link healthy in a healthy account", async () => {
    const findings = await examined();
    expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(verdictView(findings, plain)).toBe("Every step works.");
    const hops = "bus to queue 120 ms, queue to function 1380 ms, function to record 0 ms";
    expect(of(findings, "probe")?.what).toBe(hops);
  });

  it("waits for the first sweep after a deployment, but not for long", async () => {
    const deployed = (ago: Duration) =>
      examined({
        functionOf: async (part) => aFunction(part, { changedAt: after(noon, -ago) }),
        check: { record: { lastSweep: undefined } },
      });
    expect(of(await deployed(minutes(4)), "sweep")).toMatchObject({ verdict: "warn", remedy: "Wait 5m." });
    expect(broken(await deployed(minutes(8)))).toEqual(["sweep"]);
  });

  it("finds the one-shot of a new hold before the record names it", async () => {
    const { armedFor: _, ...beginning } = aHeldScope;
    const check = { record: { holds: [beginning] } };
    const named = scheduleName(aHeldScope.id, aHeldScope.expiresAt);
    const scheduleExists = async (_group: string, name: string) => name === named;
    expect(broken(await examined({ check, scheduleExists }))).toEqual([]);
    expect(broken(await examined({ check, scheduleExists: async () => false }))).toEqual(["holds"]);
  });

  it("does not require a one-shot that may have fired a moment ago", async () => {
    const check = { record: { holds: [{ ...aHeldScope, armedFor: after(noon, -minutes(1)) }] } };
    expect(broken(await examined({ check, scheduleExists: async () => false }))).toEqual([]);
  });

  it.each([true, false])(
    "misses the next one-shot of a hold that goes on after one was due: still listed %s",
    async (isListed) => {
      const check = { record: { holds: [{ ...aHeldScope, armedFor: after(noon, -minutes(20)) }] } };
      const findings = await examined({ check, scheduleExists: async () => isListed });
      const what = expect.stringContaining("was due 20m ago and set no other");
      expect(of(findings, "holds")).toMatchObject({ verdict: "fail", what, fix: {} });
    },
  );

  it("reports the consequences of a broken link as consequences", async () => {
    const check = { cluster: { works: false, because: "refused the login (401)" } };
    const findings = await examined({ check, accessGroups: none });
    expect(new Set(broken(findings))).toEqual(new Set(["access entries"]));
    const what = expect.stringContaining('follows from "access entries"');
    expect(of(findings, "login")).toMatchObject({ verdict: "skipped", what });
  });

  it("does not blame the ClusterRole when the functions are not in its group", async () => {
    const cluster = { missingRights: ["get nodes"], foreignChange: "not tried", ownChange: "not tried" };
    const findings = await examined({ check: { cluster }, accessGroups: async () => ["strangers"] });
    expect(new Set(broken(findings))).toEqual(new Set(["access entries"]));
  });

  it("sends no probe when a link on its way is broken", async () => {
    const account = anAccount({ mapping: none });
    const findings = await examinedAccount(account);
    expect(account.did).toEqual([]);
    expect(findings.at(-1)).toMatchObject({ link: "probe", verdict: "skipped" });
  });

  it("fails when a probe is lost although every link is healthy", async () => {
    expect(broken(await examined({}, { probe: () => null }))).toEqual(["probe"]);
  });

  it("names code of another version: a warning when all functions have it, a failure when they are mixed", async () => {
    const version = "0.0.1";
    const old = await examined({ check: { version } }, { probe: () => aTrip({ version }) });
    expect(warned(old).map(({ link }) => link)).toEqual(["code"]);
    expect(broken(old)).toEqual([]);
    expect(broken(await examined({}, { probe: () => aTrip({ version }) }))).toEqual(["code"]);
  });

  it("shows an alarm's text, which links to the runbook, but not that doctor is to be run", async () => {
    const alarms = async () => [anAlarm("function-errors-hold", "ALARM"), anAlarm("sweep-silent", "OK")];
    expect(warned(await examined({ alarms }))).toMatchObject([
      {
        what: "function-errors-hold is on",
        remedy: "What it is about. See docs/operating.md#where-to-read-on",
      },
    ]);
  });

  it("does not take an alarm of a cluster for its own whose name begins with this one's", async () => {
    const existing = [anAlarm("sweep-silent", "OK"), anAlarm("eu-sweep-silent", "ALARM")];
    const alarms = async (names: readonly string[]) => existing.filter(({ name }) => names.includes(name));
    expect(of(await examined({ alarms }), "alarms")).toMatchObject({ verdict: "ok", what: "1, none is on" });
  });

  it("names nodes and NodePools whose annotation protects nothing, and what does", async () => {
    const check = { cluster: { ineffective: [{ node: "a", value: "30m" }] } };
    const findIneffectiveTemplates = async () => [{ nodePool: "batch", value: "4h" }];
    const [finding] = warned(await examined({ check }, { findIneffectiveTemplates }));
    expect(finding?.what).toBe(
      'karpenter.sh/do-not-disrupt protects nothing on the template of NodePool batch ("4h"), node a ("30m")',
    );
    expect(finding?.remedy).toContain('Write "true"');
  });

  it("names the first CapacityBuffers, whose launches no pod waits for", async () => {
    const findCapacityBuffers = async () => ["a", "b", "c", "d", "e", "f"].map((name) => `web/${name}`);
    const [finding] = warned(await examined({}, { findCapacityBuffers }));
    expect(finding).toMatchObject({
      link: "launches",
      what: expect.stringMatching(/: web\/a, .*web\/e, …$/),
    });
    expect(finding?.remedy).toContain("nodePools");
    expect(warned(await examined({}, { findCapacityBuffers: async () => [] }))).toEqual([]);
  });

  it.each([
    [3, "3m ahead of"],
    [-3, "3m behind"],
  ])("warns when this machine's clock is off by %i minutes, and says by how much", async (off, says) => {
    const clock = new VirtualClock(after(noon, minutes(off)));
    const [finding] = warned(await examined({}, { clock }));
    expect(finding?.what).toBe(`this machine's clock is ${says} the functions'`);
  });

  it.each([
    [Karpenter.v1.annotation, "manifest"],
    ["example.com/stay", "manifest --hold-annotation example.com/stay"],
  ])(
    "has rights and policy written again for the annotation that is put: %s",
    async (annotation, command) => {
      const env = { ...aFunction("hold").env, HOLD_ANNOTATION: annotation };
      const functionOf = async (part: Parameters<typeof aFunction>[0]) => aFunction(part, { env });
      const findings = await examined({ functionOf, check: { cluster: { foreignChange: "admitted" } } });
      const remedy = `npx karpenter-node-holder ${command} | kubectl apply -f -`;
      expect(of(findings, "policy")).toMatchObject({ verdict: "fail", remedy });
    },
  );

  it.each([
    [["list pods"], ["no empty node is let go"], ["every launch counts as demand"]],
    [["list nodeclaims"], ["every launch counts as demand"], ["no empty node is let go"]],
    [["list nodeclaims", "list pods"], ["every launch counts as demand", "no empty node is let go"], []],
  ])(
    "says what follows where the functions may not %j, and how they may",
    async (missingRights, named, others) => {
      const env = { ...aFunction("hold").env, LET_GO: "empty" };
      const functionOf = async (part: Parameters<typeof aFunction>[0]) => aFunction(part, { env });
      const findings = await examined({ functionOf, check: { cluster: { missingRights } } });
      const remedy = "npx karpenter-node-holder manifest --let-go empty | kubectl apply -f -";
      expect(of(findings, "rights")).toMatchObject({ verdict: "warn", remedy });
      const what = of(findings, "rights")?.what;
      for (const effect of named) expect(what).toContain(effect);
      for (const effect of others) expect(what).not.toContain(effect);
    },
  );

  it.each([
    ["different", "fail", "ClusterRole is not as in the manifest"],
    ["missing", "fail", "ClusterRole is missing"],
    ["unknown to this cluster", "warn", "has no ClusterRole"],
    ["right", "ok", "as in the manifest"],
  ] as const)("compares role and policy with the user's kubeconfig: %s", async (state, verdict, says) => {
    const findings = await examined({}, { compareManifest: async () => [{ kind: "ClusterRole", state }] });
    expect(of(findings, "manifest")).toMatchObject({ verdict, what: expect.stringContaining(says) });
  });

  it("blames no queue for a rule that it may not read", async () => {
    const findings = await examined({ launchRule: denied });
    expect(broken(findings)).toEqual([]);
    expect(warned(findings)).toMatchObject([{ link: "rule", what: "could not be checked: not allowed" }]);
  });

  it("stops at credentials that have expired", async () => {
    const findings = await examined({ identity: failingWith("expired", { name: "ExpiredTokenException" }) });
    expect(findings.map(({ link, verdict }) => [link, verdict])).toEqual([["credentials", "fail"]]);
  });

  it("continues with credentials that may not ask who they are", async () => {
    const findings = await examined({ identity: denied });
    expect(warned(findings).map(({ link }) => link)).toEqual(["credentials"]);
    expect(findings.at(-1)).toMatchObject({ link: "probe", verdict: "ok" });
  });

  it("blames the network, and not the credentials, where AWS cannot be reached", async () => {
    const identity = failingWith("getaddrinfo ENOTFOUND sts.example", { code: "ENOTFOUND" });
    expect(await examined({ identity })).toMatchObject([
      {
        what: "AWS could not be reached (getaddrinfo ENOTFOUND sts.example)",
        remedy: "Check the network, --region and --endpoint-url.",
      },
    ]);
  });

  it("lists the holders there are where this cluster has none", async () => {
    const [, finding] = await examined({ functionOf: none, holders: async () => ["staging"] });
    expect(finding?.remedy).toBe("Holders found here: staging.");
  });
});

describe("fixes", () => {
  /** Applies every fix to an account. */
  const fix = async (account: ReturnType<typeof anAccount>) => {
    const reported: string[] = [];
    const isFixed = await applyFixes(await examinedAccount(account), (line) => reported.push(line));
    return { isFixed, reported, did: account.did };
  };

  it("runs each action once, and reports which failed", async () => {
    const account = anAccount({
      enableRule: () => Promise.reject(new Error("not allowed")),
      launchRule: async () => aRule({ isEnabled: false }),
      mapping: async () => ({ id: "m", state: "Disabled", lastResult: "" }),
    });
    expect(await fix(account)).toEqual({
      isFixed: true,
      reported: ["Could not enable rule launches: not allowed", "Fixed: enable the event source mapping."],
      did: ["enable mapping"],
    });
  });

  it.each([
    ["take an admin right that a killed access function left", new Date(0), true],
    ["leave the right of one that is still at work", noon, false],
  ])("%s", async (_, since, isFixed) => {
    const adminSince = async (role: string) => (role.endsWith("/cluster-access") ? since : undefined);
    const fixed = await fix(anAccount({ adminSince }));
    expect([fixed.isFixed, fixed.did.includes("delete entry")]).toEqual([isFixed, isFixed]);
  });

  it("reports that nothing can be repaired automatically", async () => {
    expect(await fix(anAccount({ tableStatus: none }))).toMatchObject({
      isFixed: false,
      reported: ["There is nothing to fix from here."],
    });
  });
});
