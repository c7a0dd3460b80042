import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { whatPaused } from "../../cli/views/done.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold, aStatus } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";
import { holder } from "./fake-control.ts";

describe("status", () => {
  it("gives programs the answer as it came, with each duration also as text", async () => {
    const answer = { ...JSON.parse(JSON.stringify(aStatus)), news: "of a later version" };
    const prod = await holder(() => answer);
    const { output } = await prod.run("status", "-o", "json");
    const texts = {
      ...{ holdText: "20m", maxHoldText: "2h", breatherText: "10m", initialDelayText: "0s" },
      ...{ maxRequestText: "24h", driftWaitText: "0s" },
      ...{ relaunchCostText: "5m", evictionCostText: "3m" },
    };
    expect(JSON.parse(output)).toEqual({ ...answer, rules: { ...answer.rules, ...texts } });
    expect(prod.asked).toEqual([{ do: "status" }]);
  });
});

describe("an action", () => {
  const since = noon;
  const granted = {
    ...{ name: "by-hand", holdId: "h", since, until: after(since, hours(2)), because: "x" },
    ...{ heldUntil: after(since, hours(2)), marked: 0, userHeld: 0, failed: 0, left: false },
  };
  const { until: _, ...notGranted } = granted;
  const released = { because: "x", released: 2, kept: 0, failed: 0, left: false };
  const resumed = { resumed: ["nodepool/a"], because: "x", failed: 0, left: false };
  const hold = ["hold", "--reason", "x"];
  const holdFor = [...hold, "--for", "2h"];
  const force = ["release", "--force"];
  const named = ["release", "--name", "a"];

  const until = "2026-11-21 14:00:00Z";
  const nothing = { ...released, released: 0 };
  it.each<[line: string, answer: object, asked: object, printed: string]>([
    [
      "hold --reason x --for 2h --scope nodepool/a",
      { ...granted, marked: 7, userHeld: 1 },
      { reason: "x", for: "2h", scope: "nodepool/a" },
      `Request by-hand holds until ${until}: x.\nNodes marked now: 7; held by their users already: 1.`,
    ],
    [
      "hold --reason x --name by-hand",
      { ...granted, heldUntil: after(since, hours(3)) },
      { reason: "x", name: "by-hand" },
      `Request by-hand holds until ${until}: x.\nSomething else holds the nodes until 2026-11-21 15:00:00Z.\n` +
        "Nodes marked now: 0 (those already held are not counted); held by their users already: 0.",
    ],
    [
      "release --name a",
      { ...nothing, heldUntil: granted.until },
      { name: "a" },
      `Nodes released: 0 (x).\nSomething else holds the nodes until ${until}.`,
    ],
    [
      "release --force --reason done --scope nodepool/a",
      { ...released, kept: 1 },
      { reason: "done", scope: "nodepool/a" },
      "Nodes released: 2; 1 stay, because nothing shows that their annotation is the holder's (x).",
    ],
    ["release --force", nothing, {}, "Nothing is held."],
    [
      "pause",
      { ...nothing, until: granted.until },
      {},
      `Paused until ${until}, or until \`npx karpenter-node-holder resume --cluster prod FLAGS\`.`,
    ],
    [
      "pause --for 2h --scope nodepool/a",
      { ...released, until: granted.until },
      { for: "2h", scope: "nodepool/a" },
      `Paused until ${until}, or until \`npx karpenter-node-holder resume --cluster prod FLAGS --scope nodepool/a\`.\nNodes released: 2 (x).`,
    ],
    ["resume", { ...resumed, resumed: ["cluster", "nodepool/a"] }, {}, "Resumed cluster, nodepool/a: x."],
    ["resume", { ...resumed, resumed: [] }, {}, "Nothing to resume: x."],
  ])(
    "asks the holder for what was typed, and prints what it did: %s",
    async (line, answer, asked, printed) => {
      const prod = await holder(() => answer);
      const [verb = "", ...words] = line.split(" ");
      const { exit, output } = await prod.run(verb, ...words, "--cluster", "prod");
      expect([exit, prod.asked]).toEqual([0, [{ do: verb, ...asked }]]);
      const timeless = output.replaceAll(/ \([^()]* ago\)/g, "");
      expect(timeless.replace(/--region \S+ --endpoint-url [\w/.:]+/, "FLAGS")).toBe(printed);
    },
  );

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
    [["resume"], { ...resumed, isPaused: true }, "it is still paused"],
    [["resume"], { ...resumed, failed: 3 }, "3 nodes could not be changed"],
  ])("that did not ends with 1 and says why, also for programs: %j, %j", async (words, answer, what) => {
    const prod = await holder(() => answer);
    for (const form of ["table", "json"]) {
      const { exit, output, reported } = await prod.run(...words, "-o", form);
      expect(exit).toBe(1);
      if (form === "json") expect(JSON.parse(output)).toEqual(JSON.parse(JSON.stringify(answer)));
      expect(reported).toMatch(/^error: .+\n.+/);
      expect(reported).toContain(what);
    }
  });

  it("names the command that resumes as this one was called", () => {
    const called = { program: "karpenter-node-holder", flags: "--run /data" };
    expect(whatPaused({ ...nothing, until: since.toISOString() }, called).lines[0]).toContain(
      "`karpenter-node-holder resume --run /data`",
    );
  });

  it("ends a window by the name that status shows, whatever its signs", async () => {
    const name = "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h";
    const prod = await holder(() => released);
    await prod.run("release", "--name", name);
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
    prod.env = { ...prod.env, ...env };
    await prod.run(...force);
    expect(prod.asked).toEqual([{ do: "release", ...expected }]);
  });

  it.each([
    [["release"], "add --name NAME to end one request, or --force to end everything"],
    [["release", "--name", "a", "--force"], "--name <name>' cannot be used with option '--force'"],
    [["hold", "--reason", "x", "--name", "a b"], "It must be a name of 1 to 63 letters"],
    [["hold", "--reason", ""], "It must be one line"],
    [["release", "--name", "a\nb"], "It must be one line"],
    [["history", "-o", "json", "--html", "x.html"], "--html"],
  ])("that is unclear is refused before anything is asked: %j", async (words, what) => {
    const prod = await holder(() => released);
    const { exit, reported } = await prod.run(...words);
    expect(exit).toBe(2);
    expect(reported).toContain(what);
    expect(prod.asked).toEqual([]);
  });
});

describe("history", () => {
  it.each([
    [aPastHold(), "Holds of prod"],
    [undefined, "No hold has ended"],
  ])(
    "writes a page where --html says, which only its owner may read, and prints the file's name: %#",
    async (hold, text) => {
      const file = join(newFolder(), "holds.html");
      const prod = await holder(() => ({ holds: hold ? [hold] : [] }));
      const { exit, output } = await prod.run("history", "--html", file);
      expect({ exit, output }).toEqual({ exit: 0, output: file });
      expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
      expect(readFileSync(file, "utf8")).toMatch(new RegExp(`^<!doctype html>.*${text}`, "s"));
    },
  );

  it.skipIf(!existsSync("/dev/full"))("names the file for which the disk has no room", async () => {
    const { exit, reported } = await (await holder(() => ({ holds: [] }))).run(
      "history",
      "--html",
      "/dev/full",
    );
    expect(exit).toBe(1);
    expect(reported).toMatch(/^error: \/dev\/full: no space left on device\nCheck that path/);
  });

  it.each(["-", "/dev/stdout"])("prints the page, and nothing else, with --html %s", async (html) => {
    const prod = await holder(() => ({ holds: [aPastHold()] }));
    const { exit, output } = await prod.run("history", "--html", html);
    expect(exit).toBe(0);
    expect(output).toMatch(/^<!doctype html>.*<\/html>$/s);
  });
});
