import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import type { Present } from "../../cli/advise/happened.ts";
import type { Account } from "../../cli/advise/history.ts";
import { asJson } from "../../cli/terminal/flags.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aPastHold, aScopeStatus, aStatus } from "../support/builders.ts";
import { failed, holder } from "./fake-control.ts";

const held = aScopeStatus({ scope: "nodepool/batch", state: "held", nodesHeld: 5 });
const releasing = aScopeStatus({ scope: "nodepool/batch", state: "releasing", nodesHeld: 1 });
const paused = aScopeStatus({ scope: "nodepool/web", state: "paused" });
const statusOf = (...scopes: object[]) => ({ ...JSON.parse(JSON.stringify(aStatus)), scopes });
const observing = (...scopes: object[]) => {
  const status = statusOf(...scopes);
  return { ...status, rules: { ...status.rules, mode: "observe" } };
};

describe("status", () => {
  it.each([
    ["held", statusOf(paused, held), 0],
    ["not held", statusOf(paused), 3],
    ["not held but not released yet", statusOf(releasing), 3],
    ["not held because it observes", observing(held), 3],
    ["unknown", failed("BrokenSetupError", "no"), 1],
    ["unknown because the answer cannot be read", { scopes: "?" }, 1],
  ])("with --exit-code ends by what is held: %s", async (_, answer, exit) => {
    const prod = await holder(() => answer);
    const quiet = await prod.run("status", "--exit-code", "-q");
    expect(quiet).toMatchObject({ exit, output: "" });
    expect(quiet.reported !== "").toBe(exit === 1);
    for (const form of ["table", "json"])
      expect((await prod.run("status", "--exit-code", "-o", form)).exit).toBe(exit);
  });

  it.each([
    [
      "of the cluster",
      "prod",
      "deploy with mode=hold and your other settings, like npx cdk deploy -c cluster=prod -c mode=hold -c alarms=none, or with -c alarmTopicArn=ARN in place of alarms=none.",
    ],
    ["with a name of its own", "generated-1a2b3c", 'set mode: "hold" for the holder prod in its app.'],
  ])("prints how a holder %s is to hold, where it observes", async (_, cluster, how) => {
    const prod = await holder(() => ({ ...observing(), cluster }));
    expect((await prod.run("status")).output).toContain(`To hold from now on: ${how}\n`);
  });

  it("without it ends with 0 also where nothing is held", async () => {
    expect((await (await holder(() => statusOf(paused))).run("status")).exit).toBe(0);
  });

  it("prints YAML with what JSON has, names of scopes, or rows alone", async () => {
    const prod = await holder(() => statusOf(held, paused));
    const json = JSON.parse((await prod.run("status", "-o", "json")).output);
    expect(json.rules.holdText).toBe("20m");
    for (const form of [["-o", "yaml"], ["-oyaml"], ["-o=yaml"], ["--output=yaml"]])
      expect(load((await prod.run("status", ...form)).output)).toEqual(json);
    expect((await prod.run("status", "-o", "name")).output).toBe("nodepool/batch\nnodepool/web");
    const { output } = await prod.run("status", "--no-headers");
    expect(output).toMatch(/^nodepool\/batch +held [^\n]+\nnodepool\/web +paused [^\n]+$/);
  });

  it("prints no line where there is no scope", async () => {
    const prod = await holder(() => statusOf());
    for (const flags of [["-o", "name"], ["--no-headers"]])
      expect(await prod.run("status", ...flags)).toEqual({ exit: 0, output: "", reported: "" });
  });
});

describe("history", () => {
  const holds = [aPastHold({ id: holdId(2) }), aPastHold({ id: holdId(1) })];

  it.each([[[]], [["--since", "90d"]]])("prints YAML, ids, or rows alone: %j", async (since) => {
    const recent = holds.map((one) => ({ ...one, endedAt: new Date() }));
    const prod = await holder(() => ({ holds: recent }));
    const json = JSON.parse((await prod.run("history", ...since, "-o", "json")).output);
    expect(load((await prod.run("history", ...since, "-o", "yaml")).output)).toEqual(json);
    expect((await prod.run("history", ...since, "-o", "name")).output).toBe(`${holdId(2)}\n${holdId(1)}`);
    const { output } = await prod.run("history", ...since, "--no-headers");
    expect(output.split("\n")).toHaveLength(2);
    expect(output).not.toContain("STARTED");
  });

  it("is quiet where it was read, and reports an error all the same", async () => {
    const prod = await holder(() => ({ holds }));
    for (const flags of [[], ["-o", "json"], ["--since", "90d", "--limit", "2"]])
      expect(await prod.run("history", "-q", ...flags)).toEqual({ exit: 0, output: "", reported: "" });
    const broken = await holder(() => failed("BrokenSetupError", "no"));
    expect(await broken.run("history", "-q")).toMatchObject({
      exit: 1,
      reported: expect.stringMatching(/^error: no/),
    });
  });

  it("prints each duration also as text, and no count", async () => {
    const observed = { removed: 2, evicted: 9, uncounted: 0, nodeTime: minutes(90), relaunched: 1 };
    const launches = { superfluous: 2 };
    const hold = aPastHold({ launches, superfluous: minutes(95), letGo: 3, spared: 4, observed });
    const prod = await holder(() => ({ holds: [hold] }));
    const { holds, observed: sum } = JSON.parse((await prod.run("history", "-o", "json")).output);
    expect(holds).toEqual([
      {
        ...JSON.parse(JSON.stringify(hold)),
        superfluousText: "1h35m",
        observed: { ...observed, nodeTimeText: "1h30m" },
      },
    ]);
    expect(sum).toMatchObject({ lasted: minutes(20), lastedText: "20m", nodeTimeText: "1h30m" });
  });

  it("prints no line where there is no hold, but for people", async () => {
    const prod = await holder(() => ({ holds: [] }));
    expect((await prod.run("history")).output).toMatch(/^No hold has ended in the last 90 days\. /);
    for (const flags of [["-o", "name"], ["--no-headers"]])
      expect((await prod.run("history", ...flags)).output).toBe("");
  });
});

it("advice has each duration also as text, and no count", () => {
  const account: Account = { source: "Karpenter's log", launched: 60_000, lifetime: minutes(7) };
  const present: Present = { nodes: 5, medianAge: hours(3), youngerThanHour: 60_000 };
  expect(JSON.parse(asJson({ present, happened: [account] }))).toEqual({
    present: { ...present, medianAgeText: "3h" },
    happened: [{ ...account, lifetimeText: "7m" }],
  });
});

it("an action is quiet where it did what was asked for, and else says why not", async () => {
  const released = { because: "x", released: 2, kept: 0, failed: 0, left: false };
  const prod = await holder(() => released);
  const force = ["release", "--force"];
  expect(await prod.run(...force, "-q")).toEqual({ exit: 0, output: "", reported: "" });
  expect(load((await prod.run(...force, "-o", "yaml")).output)).toEqual(released);
  const failing = await holder(() => ({ ...released, failed: 1 }));
  expect(await failing.run(...force, "-q")).toMatchObject({ exit: 1, output: "" });
});

it("doctor prints YAML with what JSON has", async () => {
  const prod = await holder(() => failed("BrokenSetupError", "no"));
  const [json, yaml] = [await prod.run("doctor", "-o", "json"), await prod.run("doctor", "-o", "yaml")];
  expect(JSON.parse(json.output)).toMatchObject({ cluster: "prod", verdict: "fail" });
  expect(load(yaml.output)).toEqual(JSON.parse(json.output));
});

describe("wait", () => {
  /** Each call gets the next answer; the last one stays. */
  const answering = (...answers: unknown[]) => {
    let call = 0;
    return holder(() => answers[Math.min(call++, answers.length - 1)]);
  };
  const scoped = ["--scope", "nodepool/batch"];

  const cases: readonly [state: string, flags: readonly string[], unlike: object, like: object][] = [
    ["held", [], statusOf(paused), statusOf(held)],
    ["released", [], statusOf(releasing), statusOf(paused)],
    ["released", [], { ...statusOf(), nodesOrphaned: 1 }, observing({ ...held, nodesHeld: 0 })],
    ["released", scoped, statusOf(held), statusOf({ ...held, scope: "nodepool/web" })],
    ["released", scoped, statusOf({ ...held, scope: "cluster" }), statusOf()],
  ];
  const shortly = (state: string, flags: readonly string[]) =>
    ["wait", "--for", state, ...flags, "--timeout", "1s"] as const;

  it.each(cases)("ends with 0 where it is so: %s %j", async (state, flags, _, like) => {
    const prod = await answering(like);
    expect(await prod.run(...shortly(state, flags))).toEqual({ exit: 0, output: state, reported: "" });
  });

  it("ends with 3 where it is not so in time", async () => {
    const late = await Promise.all(cases.map(([, , unlike]) => answering(unlike)));
    const ended = await Promise.all(cases.map(([state, flags], i) => late[i]?.run(...shortly(state, flags))));
    expect(ended).toEqual(
      cases.map(([state]) => ({
        ...{ exit: 3, output: "" },
        reported: `error: not ${state} within 1s\n\`status\` shows what holds, until when and why.`,
      })),
    );
    expect(late.map(({ asked }) => asked.length)).toEqual(cases.map(() => 2));
  });

  it("ends so, too, where an answer does not come", async () => {
    const none = new Promise(() => {});
    const silent = [await answering(statusOf(paused), none), await answering(none)];
    const reported = expect.stringMatching(/^error: not held within 1s\n/);
    for (const ended of await Promise.all(silent.map((one) => one.run(...shortly("held", [])))))
      expect(ended).toMatchObject({ exit: 3, reported });
  });

  it("prints the last status for a program", async () => {
    for (const [form, read] of [
      ["json", JSON.parse],
      ["yaml", load],
    ] as const) {
      const prod = await answering(statusOf(paused), statusOf(held));
      const { exit, output } = await prod.run(...shortly("held", []), "-o", form);
      expect([exit, read(output)]).toMatchObject([0, { cluster: "prod", scopes: [{ state: "held" }] }]);
    }
  });

  it("does not wait for a hold of a holder that only observes", async () => {
    const prod = await answering(observing(held));
    expect(await prod.run(...shortly("held", []))).toEqual({
      ...{ exit: 1, output: "" },
      reported:
        "error: this holder only observes, so nothing is held\n" +
        "To hold: deploy with mode=hold and your other settings, like npx cdk deploy -c cluster=prod -c mode=hold -c alarms=none, or with -c alarmTopicArn=ARN in place of alarms=none.",
    });
  });

  it("says which NodePools the holder knows where it has not seen the one that is named", async () => {
    const byPool = (status: ReturnType<typeof statusOf>) => {
      return { ...status, rules: { ...status.rules, scope: "nodepool" } };
    };
    for (const [status, known] of [
      [statusOf(paused), "nodepool/web"],
      [statusOf(), "none"],
    ] as const) {
      const prod = await answering(byPool(status));
      const reported = `The holder has not seen nodepool/batch yet; it knows: ${known}.`;
      expect(await prod.run(...shortly("released", scoped))).toEqual({
        exit: 0,
        output: "released",
        reported,
      });
    }
  });

  it("asks again after an error, but not where the first question fails, or the last", async () => {
    const busy = failed("TryAgainError", "busy");
    const prod = await answering(statusOf(held), busy, statusOf());
    expect(await prod.run("wait", "--for", "released", "--every", "1s", "-q")).toEqual({
      ...{ exit: 0, output: "" },
      reported: "Could not ask: busy. Trying again.",
    });
    const expired = await answering(statusOf(held), failed("BrokenSetupError", "expired"));
    expect(await expired.run(...shortly("released", []))).toMatchObject({
      exit: 1,
      reported: expect.stringContaining("\nerror: expired\n"),
    });
    const broken = await answering(busy, statusOf(held));
    expect((await broken.run("wait", "--for", "held")).exit).toBe(1);
  });
});
