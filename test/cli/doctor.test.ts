import { describe, expect, it } from "vitest";
import { applyFixes } from "../../cli/doctor/examination.ts";
import { verdictView } from "../../cli/doctor/finding.ts";
import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  aFunction,
  aHeldScope,
  anAccount,
  anAlarm,
  aRule,
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

  it("sends no probe when a link on its way is broken", async () => {
    const account = anAccount({ mapping: none });
    const findings = await examinedAccount(account);
    expect(account.did).toEqual([]);
    expect(findings.at(-1)).toMatchObject({ link: "probe", verdict: "skipped" });
  });

  it("does not take an alarm of a cluster for its own whose name begins with this one's", async () => {
    const existing = [anAlarm("sweep-silent", "OK"), anAlarm("eu-sweep-silent", "ALARM")];
    const alarms = async (names: readonly string[]) => existing.filter(({ name }) => names.includes(name));
    expect(of(await examined({ alarms }), "alarms")).toMatchObject({ verdict: "ok", what: "1, none is on" });
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

  it("reports that nothing can be repaired automatically", async () => {
    expect(await fix(anAccount({ tableStatus: none }))).toMatchObject({
      isFixed: false,
      reported: ["There is nothing to fix from here."],
    });
  });
});
