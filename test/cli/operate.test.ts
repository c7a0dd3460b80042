import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { aPastHold, aStatus } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";
import { type Control, FakeControl } from "./fake-control.ts";

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
const holder = async (answer: Control) => {
  control = await FakeControl.start(answer);
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
    [["history", "-o", "json", "--html", "x.html"], "--html"],
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

  it("writes its page also where no hold has ended", async () => {
    const file = join(newFolder(), "holds.html");
    const prod = await holder(() => ({ holds: [] }));
    expect((await prod.run("history", "--cluster", "prod", "--html", file)).output).toBe(file);
    expect(readFileSync(file, "utf8")).toContain("No hold has ended");
  });
});
