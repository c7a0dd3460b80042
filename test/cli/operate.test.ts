import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { aPastHold, aStatus } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";
import { type Control, FakeControl, failed, refused } from "./fake-control.ts";

const at = "2026-11-21T12:00:00.000Z";
const held = {
  scope: "cluster",
  state: "held",
  because: "3 launches in NodePool default",
  holdId: "20261121t115000-abc",
  since: "2026-11-21T11:50:00.000Z",
  until: "2026-11-21T12:15:00.000Z",
  launchesUntil: "2026-11-21T12:15:00.000Z",
  requests: [],
  launches: 3,
  extensions: 2,
  capped: false,
  nodesHeld: 5,
  nodes: [],
  drifted: 0,
  isAwaiting: false,
  nextLook: "2026-11-21T12:15:00.000Z",
};
const { rules } = aStatus;
const status = {
  cluster: "prod",
  at,
  version: "1.0.0",
  rules,
  nodesUserHeld: 2,
  lastSweep: "2026-11-21T11:58:00.000Z",
  limits: [],
};
const past = aPastHold({
  startedAt: new Date("2026-11-20T10:00:00.000Z"),
  endedAt: new Date("2026-11-20T10:30:20.000Z"),
  launches: { default: 4 },
  extensions: 3,
  nodes: 12,
});

let control: FakeControl | undefined;
const holder = async (answer: Control, ...rest: [(readonly string[] | "denied")?]) => {
  control = await FakeControl.start(answer, ...rest);
  return control;
};
afterEach(() => control?.stop());

describe("status", () => {
  it("reports each scope: state, since, until, launches, nodes and why", async () => {
    const prod = await holder(() => ({ ...status, scopes: [held] }));
    const { exit, output } = await prod.run("status", "--cluster", "prod");
    expect(exit).toBe(0);
    const [, row = ""] = output.split("\n").filter((line) => /SCOPE|^cluster/.test(line));
    expect(row).toMatch(
      /^cluster +held +11:50:00Z \(10m ago\) +12:15:00Z \(in 15m\) +3 +2 +5 +3 launches in NodePool default$/,
    );
    expect(output).toContain("holds 20m after each launch, 2h at most, then 10m of breather");
    expect(output).toContain("Held by their users: 2. Last sweep: 11:58:00Z (2m ago).");
    expect(prod).toMatchObject({
      asked: [{ do: "status" }],
      functionNames: ["karpenter-node-holder-prod-control"],
    });
  });

  it("reports each request with its own end, beside that of the launches", async () => {
    const request = { name: "load-test", cause: "person", reason: "a test", since: held.since, until: at };
    const prod = await holder(() => ({ ...status, scopes: [{ ...held, requests: [request] }] }));
    const { output } = await prod.run("status", "--cluster", "prod");
    expect(output).toMatch(/^launches +cluster +– +– +12:15:00Z \(in 15m\) +–$/m);
    expect(output).toMatch(/^load-test +cluster +person +11:50:00Z \(10m ago\) +12:00:00Z \(now\) +a test$/m);
  });

  it("gives programs the answer as it came, with each duration also as text", async () => {
    const answer = { ...status, scopes: [held], news: "of a later version" };
    const prod = await holder(() => answer);
    const { output } = await prod.run("status", "--cluster", "prod", "-o", "json");
    const texts = {
      ...{ holdText: "20m", maxHoldText: "2h", breatherText: "10m", initialDelayText: "0s" },
      ...{ maxRequestText: "24h", driftWaitText: "0s" },
      ...{ relaunchCostText: "5m", evictionCostText: "3m" },
    };
    expect(JSON.parse(output)).toEqual({ ...answer, rules: { ...rules, ...texts } });
  });

  it("asks the function of a cluster with the longest name by its shortened one", async () => {
    const cluster = "c".repeat(100);
    const holding = await holder(() => ({ ...status, cluster, scopes: [] }));
    const { exit, output } = await holding.run("status", "--cluster", cluster);
    expect({ exit, output }).toEqual({
      exit: 0,
      output: expect.stringContaining("Nothing is held now."),
    });
    expect(holding.functionNames[0]).toMatch(/^karpenter-node-holder-c+-[0-9a-f]{8}-control$/);
    expect(holding.functionNames[0]).toHaveLength(64);
  });
});

describe("an action", () => {
  const since = new Date(at);
  const granted = {
    ...{ name: "by-hand", holdId: held.holdId, since, until: after(since, hours(2)), because: "x" },
    ...{ heldUntil: after(since, hours(2)), marked: 0, userHeld: 0, failed: 0, left: false },
  };
  const { until: _, ...notGranted } = granted;
  const released = { because: "x", released: 2, kept: 0, failed: 0, left: false };
  const hold = ["hold", "--reason", "x"];
  const holdFor = [...hold, "--for", "2h"];
  const force = ["release", "--force"];
  const named = ["release", "--name", "a"];

  it.each<[words: readonly string[], answer: object]>([
    [hold, granted],
    [holdFor, granted],
    [holdFor, { ...granted, heldUntil: after(since, hours(3)) }],
    [force, released],
    [force, { ...released, kept: 2 }],
    [named, { ...released, heldUntil: since }],
    [["pause"], { ...released, until: since }],
    [["resume"], { resumed: [], because: "x" }],
  ])("that did what was asked for ends with 0: %j, %j", async (words, answer) => {
    const prod = await holder(() => answer);
    expect(await prod.run(...words, "--cluster", "prod")).toMatchObject({ exit: 0, reported: "" });
  });

  it.each<[words: readonly string[], answer: object, what: string]>([
    [hold, notGranted, "not held as asked: x"],
    [hold, { ...granted, heldUntil: after(since, hours(1)) }, "not held as asked"],
    [holdFor, { ...granted, until: after(since, minutes(10)) }, "lasts 10m, not 2h as asked"],
    [hold, { ...granted, observed: true }, "no node is held: the holder only observes"],
    [hold, { ...granted, failed: 3 }, "3 nodes could not be changed"],
    [hold, { ...granted, left: true }, "some are not changed yet"],
    [force, { ...released, failed: 3 }, "3 nodes could not be changed"],
    [force, { ...released, left: true }, "some are not changed yet"],
    [force, { ...released, heldUntil: since }, "nodes are held again"],
    [named, { ...released, left: true }, "some are not changed yet"],
    [["pause"], { ...released, until: since, left: true }, "some are not changed yet"],
    [["resume"], { resumed: ["nodepool/a"], isPaused: true, because: "x" }, "it is still paused"],
  ])("that did not ends with 1 and says why, also for programs: %j, %j", async (words, answer, what) => {
    const prod = await holder(() => answer);
    for (const form of ["table", "json"]) {
      const { exit, output, reported } = await prod.run(...words, "--cluster", "prod", "-o", form);
      expect(exit).toBe(1);
      if (form === "json") expect(JSON.parse(output)).toEqual(JSON.parse(JSON.stringify(answer)));
      expect(reported).toMatch(/^error: .+\n.+/);
      expect(reported).toContain(what);
    }
  });

  it("ends a window by the name that status shows, whatever its signs", async () => {
    const name = "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h";
    const prod = await holder(() => released);
    await prod.run("release", "--name", name, "--cluster", "prod");
    expect(prod.asked).toEqual([{ do: "release", name }]);
  });

  it.each([
    [{ USER: "ada" }, { by: "ada" }],
    [{ LOGNAME: "ada" }, { by: "ada" }],
    [{ USERNAME: "ada" }, { by: "ada" }],
    [{ USER: "two\nlines" }, {}],
    [{}, {}],
  ])("names who asks, as the shell knows it: %j", async (env, expected) => {
    const prod = await holder(() => released);
    prod.env = env;
    await prod.run("release", "--force", "--cluster", "prod");
    expect(prod.asked).toEqual([{ do: "release", ...expected }]);
  });

  it.each([
    [["release"], "add --name NAME to end one request, or --force to end everything"],
    [["release", "--name", "a", "--force"], "--name <name>' cannot be used with option '--force'"],
    [["hold", "--reason", "x", "--name", "a b"], "It must be a name of 1 to 63 letters"],
    [["release", "--name", "a\nb"], "It must be one line"],
  ])("that is unclear is refused before anything is asked: %j", async (words, what) => {
    const prod = await holder(() => released);
    const { exit, reported } = await prod.run(...words, "--cluster", "prod");
    expect(exit).toBe(2);
    expect(reported).toContain(what);
    expect(prod.asked).toEqual([]);
  });
});

describe("history", () => {
  it("reports past holds, the newest first", async () => {
    const prod = await holder(() => ({ holds: [past] }));
    const { output } = await prod.run("history", "--cluster", "prod");
    expect(output).toMatch(/2026-11-20 10:00:00Z .* 30m +cluster +4 +3 +12 +the hold expired/);
    expect(prod.asked).toEqual([{ do: "history", limit: 20 }]);
  });

  it("writes a page where --html says, which only its owner may read, and prints the file's name", async () => {
    const file = join(newFolder(), "holds.html");
    const prod = await holder(() => ({ holds: [past] }));
    const { exit, output } = await prod.run("history", "--cluster", "prod", "--html", file);
    expect({ exit, output }).toEqual({ exit: 0, output: file });
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>.*Holds of prod/s);
  });
});

describe("history without an ended hold", () => {
  it("writes its page all the same", async () => {
    const file = join(newFolder(), "holds.html");
    const prod = await holder(() => ({ holds: [] }));
    expect((await prod.run("history", "--cluster", "prod", "--html", file)).output).toBe(file);
    expect(readFileSync(file, "utf8")).toContain("No hold has ended");
  });

  it("refuses a page where JSON is asked for", async () => {
    const prod = await holder(() => ({ holds: [] }));
    const { exit, reported } = await prod.run(
      "history",
      "--cluster",
      "prod",
      "-o",
      "json",
      "--html",
      "x.html",
    );
    expect(exit).toBe(2);
    expect(reported).toContain("--html");
    expect(prod.asked).toEqual([]);
  });
});

describe("a failed command", () => {
  const ask = (fake: FakeControl) => fake.run("status", "--cluster", "prdo");

  it("lists the existing holders when the name is wrong", async () => {
    const missing = () => refused("ResourceNotFoundException", "Function not found", 404);
    const { exit, reported } = await ask(await holder(missing, ["staging", "prod"]));
    expect(exit).toBe(1);
    expect(reported).toBe(
      "error: there is no holder for cluster prdo in eu-west-1\nDid you mean prod? Holders found in eu-west-1: prod, staging.",
    );
  });

  it("lists holders by the name that --cluster takes, long ones, too", async () => {
    const missing = () => refused("ResourceNotFoundException", "Function not found", 404);
    const long = "a-rather-long-name-of-a-cluster".repeat(3);
    const { reported } = await ask(await holder(missing, ["blue for generated-1a2b3c", long]));
    expect(reported).toContain(`Holders found in eu-west-1: ${long}, blue.`);
  });

  it("is two lines, whatever names and messages from outside contain", async () => {
    const missing = () => refused("ResourceNotFoundException", "Function not found", 404);
    const { reported } = await ask(await holder(missing, ["\u001b[32mred\nerror: all is lost"]));
    expect(reported.split("\n")).toEqual([
      "error: there is no holder for cluster prdo in eu-west-1",
      "Holders found in eu-west-1: red error: all is lost.",
    ]);
  });

  it.each([
    ["may not be listed", "denied", "Check --cluster, --region and --profile, or deploy"],
    ["are none", [], "No other cluster has one either: check --region and --profile, or deploy"],
  ] as const)("gives a remedy when the holders %s", async (_, holders, remedy) => {
    const missing = () => refused("ResourceNotFoundException", "Function not found", 404);
    const { reported } = await ask(await holder(missing, holders));
    expect(reported).toContain(`\n${remedy}: npx cdk deploy -c cluster=`);
  });

  it("shows the begin of an answer that is not JSON", async () => {
    const { reported } = await ask(await holder(() => ({ headers: {}, body: "x".repeat(300) })));
    const what = `error: the control function answered with something that is not JSON: ${"x".repeat(200)}`;
    expect(reported).toBe(`${what}\nIts code may have another version.`);
  });

  it.each([
    ["ExpiredTokenException", "the AWS credentials have expired", "Log in (for example"],
    ["UnrecognizedClientException", "AWS does not know these credentials", "--profile"],
    ["AccessDeniedException", "no", "may not invoke karpenter-node-holder-prdo-control"],
    ["ThrottlingException", "no", "try again in a moment"],
    ["TooManyRequestsException", "no", "try again in a moment"],
  ])("gives a remedy for %s", async (name, what, remedy) => {
    const { exit, reported } = await ask(await holder(() => refused(name, "no", 403)));
    expect(exit).toBe(1);
    expect(reported).toContain(what);
    expect(reported).toContain(remedy);
  });

  it("reports the function's error without its stack trace", async () => {
    const failing = () => failed("BrokenSetupError", "The cluster refused the login (401)");
    const { exit, reported } = await ask(await holder(failing));
    expect(exit).toBe(1);
    expect(reported).toContain("error: The cluster refused the login (401)\nRun doctor");
    expect(reported).not.toContain("somewhere.ts");
  });

  it("reports why a request was refused, and not as a usage error", async () => {
    const refusing = () => failed("BadInputError", "Cannot hold: paused by hand: resume first");
    const prod = await holder(refusing);
    const { exit, reported } = await prod.run("hold", "--cluster", "prod", "--reason", "x");
    expect(exit).toBe(1);
    expect(reported).toContain("resume first\nNothing was changed.");
  });

  it("reports another version when it cannot parse an answer", async () => {
    const { exit, reported } = await ask(await holder(() => ({ cluster: "prdo" })));
    expect(exit).toBe(1);
    expect(reported).toContain("rules must be an object");
    expect(reported).toContain("use the same for both");
  });
});
