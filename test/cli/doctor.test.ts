import { describe, expect, it } from "vitest";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { redeploy } from "../../cli/doctor/doctor.ts";
import { examine } from "../../cli/doctor/examine.ts";
import {
  applyFixes,
  type Finding,
  findingJson,
  findingView,
  isWrong,
  type Verdict,
  verdictView,
  worstOf,
} from "../../cli/doctor/finding.ts";
import { ruleName } from "../../infra/names.ts";
import { version } from "../../lambda/version.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";
import { fakeAws, json } from "../support/fake-aws.ts";
import {
  denied,
  failing,
  functionsHave,
  inRecord,
  mappingIs,
  named,
  schedulesAre,
  silent,
  withRules,
} from "./differing.ts";
import { brokenLinks, consequences, type Row } from "./doctor-broken.ts";
import { fine, warnings } from "./doctor-warnings.ts";
import {
  aHeldScope,
  anAccount,
  aQueue,
  aRule,
  broken,
  examined,
  examinedAccount,
  warned,
} from "./healthy-account.ts";

const notSent = /^not sent: "[a-z ]+" is broken$/;

describe("doctor", () => {
  it("does not wait for a part that never answers, and reads each thing once", async () => {
    const read: string[] = [];
    const account = anAccount({
      trust: () => new Promise(() => {}),
      queue: async (url) => {
        read.push(url);
        return aQueue("launches");
      },
    });
    const notified: unknown[] = [];
    const findings = await examine(
      { cluster: "prod", account, clock: new VirtualClock(), sleep: async () => {} },
      (finding) => notified.push(finding),
      100,
    );
    expect(notified).toEqual(findings);
    expect(broken(findings)).toEqual(["schedule role"]);
    expect(findings).toContainEqual(expect.objectContaining({ what: "no answer came in two minutes" }));
    expect(findings.at(-1)).toMatchObject({ link: "probe", verdict: "ok" });
    expect(read.filter((url) => url === "https://sqs/launches")).toHaveLength(1);
  });

  it("checks nothing else without credentials, and the rest where they may not be asked for", async () => {
    expect(await examined({ identity: failing(named("ExpiredToken")) })).toHaveLength(1);
    const [first, ...others] = await examined({ identity: denied });
    expect([first?.link, first?.verdict]).toEqual(["credentials", "warn"]);
    expect(others.map(({ verdict }) => verdict)).toEqual(others.map(() => "ok"));
  });

  it("reports what the other functions found where one does not answer", async () => {
    const findings = await examined({ checks: { release: silent("Runtime.ExitError") } });
    for (const link of ["code", "record", "login", "rights", "policy"])
      expect(findings).toContainEqual(expect.objectContaining({ link, verdict: "ok" }));
    expect(findings.filter(({ what }) => what.includes("could not be asked"))).toHaveLength(1);
  });

  it("leaves no timer behind, which would keep the command from ending", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    const before = timers();
    const findings = await examined();
    expect(timers() - before).toBeLessThan(findings.length / 2);
  });

  it("asks once a second for the probe that it sent, which has a name of its own each time", async () => {
    const sent: unknown[][] = [];
    const asked: unknown[] = [];
    const account = anAccount({ putProbe: async (...probe) => void sent.push(probe) });
    const probe = (id: unknown) => void asked.push(id);
    for (let run = 0; run < 2; run++) await examinedAccount(account, {}, { probe });
    const ids = sent.map(([id]) => id);
    expect(asked).toEqual(ids.flatMap((id) => Array(45).fill(id)));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^doctor-[0-9a-f-]{36}$/);
    for (const [, , pattern] of sent) expect(pattern).toEqual(aRule().pattern);
  });

  it("finds in AWS what is called after the holder, and in EKS the cluster that it works for", async () => {
    const [eks, asked]: [string[], string[]] = [[], []];
    const noteIn = async (cluster: string) => void eks.push(cluster);
    const account = anAccount({
      ...functionsHave({ CLUSTER: "staging" }),
      ...{ accessGroups: noteIn, admit: noteIn, deleteEntry: noteIn },
      adminSince: async (cluster) => new Date(eks.push(cluster)),
      alarms: async (names) => {
        asked.push(...names);
        return [];
      },
    });
    const findings = await examinedAccount(account);
    await applyFixes(findings, () => {});
    expect(new Set(eks)).toEqual(new Set(["staging"]));
    expect(new Set(broken(findings))).toEqual(new Set(["access entries", "admin"]));
    expect(asked).toContain("karpenter-node-holder-prod-sweep-silent");
    const remedies = findings.filter(({ verdict }) => verdict === "fail").map(({ remedy }) => remedy);
    for (const remedy of remedies) expect(remedy).toContain("--cluster-name staging ");
  });

  it("judges the rule of launches, also where rules of events lead to the same queue", async () => {
    const { arn, pattern, deadLetterArn } = aRule();
    const [event, launches] = ["event-0a1b2c3d", "launches"].map((what) => ruleName("prod", what));
    const aws = await fakeAws(({ body }) =>
      json({
        ...{ RuleNames: [event, launches], Arn: arn, State: "ENABLED" },
        EventPattern: JSON.stringify(body.includes("event-") ? { source: ["aws.codedeploy"] } : pattern),
        Targets: [{ Arn: aQueue("launches").arn, DeadLetterConfig: { Arn: deadLetterArn } }],
      }),
    );
    const { ruleTo } = awsAccount(aws.client, "prod");
    const timer = async () => aRule({ name: "timer" });
    const findings = await examined({ ruleTo: (to) => (to.includes("launches") ? ruleTo : timer)(to) });
    await aws.close();
    expect([broken(findings), warned(findings)]).toEqual([[], []]);
    expect(findings).toContainEqual(expect.objectContaining({ link: "rule", what: launches }));
  });

  it("compares the cluster with the manifest of the functions' settings", async () => {
    const rules = { holdAnnotation: "example.com/stay", mode: "observe", nodeEvents: true } as const;
    const compared: unknown[] = [];
    const compareManifest = async (settings: unknown) => {
      compared.push(settings);
      return [];
    };
    await examined(withRules(rules), { compareManifest });
    expect(compared).toMatchObject([{ ...rules, auto: true, nodeEvents: false }]);
  });

  it("has the verdict of its worst finding, and fixes nothing without a fix", async () => {
    const found = (...verdicts: Verdict[]) =>
      verdicts.map((verdict) => ({ link: "rule", verdict, what: "" }));
    expect(worstOf(found("ok", "warn", "fail"))).toBe("fail");
    expect(worstOf(found("warn", "skipped"))).toBe("warn");
    expect(worstOf(found("ok", "skipped"))).toBe("ok");
    const printed: string[] = [];
    expect(await applyFixes(found("fail"), (line) => printed.push(line))).toBe(false);
    expect(printed).toEqual(["There is nothing to fix from here."]);
    const views = [found("ok", "skipped"), found("warn"), found("fail", "warn"), found("fail")];
    expect(views.map((one) => verdictView(one, (style, text) => `<${style}>${text}</>`))).toEqual([
      "<green>Every step works.</>",
      "nothing broken, <yellow>1 to look at</>.",
      "<red>1 broken</>, <yellow>1 to look at</>.",
      "<red>1 broken</>.",
    ]);
    expect(redeploy("prod", "prod")).toMatch(
      /^npx cdk deploy -c cluster=prod --revert-drift, with your other settings; without the CDK: .* REVERT_DRIFT$/,
    );
    expect(redeploy("green", "prod")).toBe("In the app with the holder green: npx cdk deploy --revert-drift");
    const finding = { link: "rule", verdict: "fail", what: "disabled", remedy: "enable it" } as const;
    const fix = { action: "enable rule", apply: async () => {} };
    expect(findingJson(finding)).toEqual(finding);
    expect(findingJson({ ...finding, error: new Error("not now"), fix })).toEqual({
      ...finding,
      fix: fix.action,
    });
  });

  it("applies the same fix once, and goes on after one that fails", async () => {
    const [hold, more] = [aHeldScope, { ...aHeldScope, scope: "nodepool/batch" }];
    const differing = { ...inRecord({ holds: [hold, more] }), ...schedulesAre(), ...mappingIs("Disabled") };
    const account = anAccount({ ...differing, enableMapping: failing(new Error("not now")) });
    const lines: string[] = [];
    const findings = await examinedAccount(account, differing);
    expect(await applyFixes(findings, (line) => lines.push(line))).toBe(true);
    expect(lines).toEqual(["Could not enable the event source mapping: not now", "Fixed: sweep now."]);
  });

  // A change is accepted with `npx vitest run test/cli/doctor --update`, and read in the diff.
  it("names the one link that is broken, or that it warns of, and prints what was reviewed", async () => {
    const printed = new Set<string>();
    const styled = (style: unknown, text: string) => `<${style}>${text}</>`;
    const usual = `→ ${redeploy("prod", "prod")}<`;
    async function examine([how, differing, answers]: Row) {
      const account = anAccount(differing);
      const findings = await examinedAccount(account, differing, answers);
      // A probe is not sent where a step of its way is broken; which one, the finding before says.
      const [unsent] = findings.filter(({ link, verdict }) => link === "probe" && verdict === "skipped");
      if (unsent) expect([unsent.what, account.did], how).toEqual([expect.stringMatching(notSent), []]);
      // What is wrong has a remedy; the usual one is not shown.
      for (const one of findings) expect(Boolean(one.remedy), how).toBe(isWrong(one));
      for (const one of findings.filter(({ what }) => !/^(not sent|follows from)/.test(what)))
        printed.add(
          findingView(one, styled)
            .filter((line) => !line.includes(usual))
            .join("\n"),
        );
      const fixed: string[] = [];
      if (await applyFixes(findings, (line) => fixed.push(line)))
        printed.add(`${fixed.join(" ")} (${account.did.filter((one) => one !== "probe").join(", ")})`);
      return findings;
    }
    const links = (findings: readonly Finding[]) => [
      [...new Set(broken(findings))],
      warned(findings).map(({ link }) => link),
    ];
    await examine(["nothing is broken", {}]);
    for (const row of fine) expect(links(await examine(row)), row[0]).toEqual([[], []]);
    for (const [link, rows] of Object.entries(brokenLinks))
      for (const row of rows) expect(links(await examine(row))[0], `${link}: ${row[0]}`).toEqual([link]);
    for (const [link, rows] of Object.entries(warnings))
      for (const row of rows) expect(links(await examine(row)), `${link}: ${row[0]}`).toEqual([[], [link]]);
    for (const [cause, follow, ...row] of consequences) {
      const findings = await examine(row);
      const followed = findings.filter(({ what }) => what.startsWith(`follows from "${cause}"`));
      expect([broken(findings).includes(cause), followed.map(({ link }) => link)]).toEqual([true, follow]);
    }
    const text = [...printed].join("\n").replaceAll(version, "VERSION");
    await expect(text).toMatchFileSnapshot("printed/doctor.txt");
  });
});
