import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Archive, gapsIn } from "../../cli/advise/archive.ts";
import { CloudTrailReader } from "../../cli/advise/cloudtrail.ts";
import { instanceEventsIn, recordsIn } from "../../cli/advise/cloudtrail-events.ts";
import { nodeLives } from "../../cli/advise/lives.ts";
import { commandLine } from "../../cli/command-line.ts";
import { after } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { type AwsAnswer, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";
import { at, evict, fleet, fleetInVain, idOf, karpenter, run, terminate } from "./cloudtrail-records.ts";

describe("CloudTrail's records", () => {
  it.each([
    ["a fleet", fleet(1, 0)],
    ["an instance run", run(1, 0)],
  ])("reads a launch by %s: when, what and in which NodePool", (_, record) => {
    expect(instanceEventsIn(record, "prod")).toMatchObject([
      {
        kind: "launched",
        at: noon,
        instance: idOf(1),
        nodePool: "batch",
        instanceType: "m5.large",
        by: karpenter.sessionContext.sessionIssuer.arn,
      },
    ]);
  });

  it("reads a termination and its caller", () => {
    expect(instanceEventsIn(terminate(1, 5, { arn: "arn:a-user" }), "prod")).toMatchObject([
      { kind: "terminated", at: at(5), instance: idOf(1), by: "arn:a-user" },
    ]);
  });

  it("reads every instance of a fleet", () => {
    const reported = instanceEventsIn(fleet(1, 0, "prod", [2, 3]), "prod");
    expect(reported.map(({ instance }) => instance)).toEqual([1, 2, 3].map(idOf));
  });

  it("reads a spot interruption, which is not a termination by Karpenter", () => {
    const reported = [fleet(1, 0), run(1, 0), evict(1, 5)].flatMap((one) => instanceEventsIn(one, "prod"));
    expect(nodeLives(reported)).toMatchObject([{ instance: idOf(1), endedAt: at(5), endedBy: "others" }]);
  });

  it("reads that Karpenter terminated an instance of its fleet", () => {
    for (const launch of [fleet(1, 0), run(1, 0)]) {
      const reported = [launch, terminate(1, 5)].flatMap((one) => instanceEventsIn(one, "prod"));
      expect(nodeLives(reported)).toMatchObject([{ endedAt: at(5), endedBy: "karpenter" }]);
    }
  });

  it.each([
    ["another cluster's", fleet(1, 0, "other")],
    ["one without capacity", fleetInVain(1, 0)],
    ["a refused one", { ...fleet(1, 0), errorCode: "Client.InsufficientInstanceCapacity" }],
    ["another call", { ...fleet(1, 0), eventName: "DescribeInstances" }],
    ["nonsense", "nonsense"],
  ])("reads nothing from %s", (_, record) => {
    expect(instanceEventsIn(record, "prod")).toEqual([]);
  });

  it.each([
    ["lookup-events", JSON.stringify({ Events: [{ CloudTrailEvent: JSON.stringify(fleet(1, 0)) }] })],
    ["a log file", JSON.stringify({ Records: [fleet(1, 0)] })],
    ["a list", JSON.stringify([fleet(1, 0)])],
    ["a record a line", `${JSON.stringify(fleet(1, 0))}\n\n`],
  ])("are read as %s exports them", (_, text) => {
    expect(recordsIn(text)).toEqual([fleet(1, 0)]);
  });
});

describe("gaps", () => {
  const span = (from: number, to: number) => ({ from: at(from), to: at(to) });

  it("are what was not read, the newest first", () => {
    expect(gapsIn([span(20, 30), span(5, 10), span(8, 12)], at(0), at(40))).toEqual([
      span(30, 40),
      span(12, 20),
      span(0, 5),
    ]);
  });

  it("are none where all was read", () => {
    expect(gapsIn([span(-5, 50)], at(0), at(40))).toEqual([]);
  });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "advise-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe("reading from CloudTrail", () => {
  const lookup = (...records: object[]) =>
    records.map((record) => ({
      EventTime: new Date(String(Reflect.get(record, "eventTime"))).getTime() / 1000,
      CloudTrailEvent: JSON.stringify(record),
    }));
  let aws: FakeAws | undefined;
  afterEach(() => aws?.close());

  const reader = async (answers: (call: string, page: number) => object | AwsAnswer) => {
    const pages = new Map<string, number>();
    aws = await fakeAws((request) => {
      const call = JSON.parse(request.body).LookupAttributes[0].AttributeValue;
      const page = (pages.get(call) ?? 0) + 1;
      pages.set(call, page);
      const answer = answers(call, page);
      return "body" in answer ? answer : json(answer);
    });
    const waits: number[] = [];
    const it = new CloudTrailReader(aws.client, "prod", async (ms) => void waits.push(ms));
    return { it, waits, aws };
  };

  it("reads launches and terminations page by page, at most twice a second", async () => {
    const { it, waits, aws } = await reader((call, page) => {
      if (call === "CreateFleet" && page === 1) return { Events: lookup(fleet(2, 30)), NextToken: "more" };
      if (call === "CreateFleet") return { Events: lookup(fleet(1, 0)) };
      return { Events: call === "TerminateInstances" ? lookup(terminate(1, 5)) : [] };
    });
    const archive = new Archive(join(folder, "events.jsonl"));
    const shares: number[] = [];
    await it.read(archive, at(-10), at(60), ({ share }) => void shares.push(share));
    expect(archive.events).toHaveLength(3);
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((one, other) => one - other));
    expect(aws.requests).toHaveLength(5);
    expect(waits.every((ms) => ms >= 500)).toBe(true);
  });

  it("continues after an empty page when another follows", async () => {
    const path = join(folder, "events.jsonl");
    const failing = await reader((call, page) =>
      call === "CreateFleet" && page === 1
        ? { Events: [], NextToken: "more" }
        : jsonError("Expired", "expired"),
    );
    await expect(failing.it.read(new Archive(path), at(-10), at(60), () => {})).rejects.toThrow("expired");
    await failing.aws.close();

    const { it } = await reader((call) => ({ Events: call === "CreateFleet" ? lookup(fleet(1, 0)) : [] }));
    const archive = new Archive(path);
    await it.read(archive, at(-10), at(60), () => {});
    expect(archive.events).toHaveLength(1);
  });

  it("continues where it was interrupted, and requests nothing twice", async () => {
    const path = join(folder, "events.jsonl");
    const failing = await reader((call, page) => {
      if (call === "CreateFleet" && page === 1) return { Events: lookup(fleet(2, 30)), NextToken: "more" };
      return jsonError("ExpiredTokenException", "expired");
    });
    await expect(failing.it.read(new Archive(path), at(-10), at(60), () => {})).rejects.toThrow("expired");
    await failing.aws.close();
    appendFileSync(path, '{"read":{"call":"Cre');

    const { it, aws } = await reader((call) => ({
      Events: call === "CreateFleet" ? lookup(fleet(1, 0)) : [],
    }));
    const archive = new Archive(path);
    await it.read(archive, at(-10), at(60), () => {});
    const [first] = aws.requests.map(({ body }) => JSON.parse(body));
    // The second of the oldest event may hold more of them.
    expect(new Date(first.EndTime * 1000)).toEqual(after(at(30), 1_000));
    expect(archive.events).toHaveLength(2);

    await it.read(archive, at(-10), at(60), () => {});
    expect(aws.requests).toHaveLength(4);
  });
});

describe("advise", () => {
  const churn = Array.from({ length: 20 }, (_, i) => [fleet(i, i * 15), terminate(i, i * 15 + 5)]).flat();
  const advise = async (...words: string[]) => {
    const terminal = new CollectedTerminal();
    const exit = await commandLine(["advise", "--cluster", "prod", ...words], terminal);
    return { exit, output: terminal.output, reported: terminal.reported };
  };
  const exported = (records: readonly object[]) => {
    const path = join(folder, "records.json");
    writeFileSync(path, JSON.stringify({ Records: records }));
    return path;
  };

  it("recommends a hold, with its reason and its assumptions", async () => {
    const { exit, output } = await advise("--from", exported(churn));
    expect(exit).toBe(0);
    expect(output).toContain("20 nodes launched, 20 taken away by Karpenter, 19 of those regretted");
    expect(output).toContain("20m would have avoided 15 of 19 regretted ends");
    expect(output).toContain("CloudTrail does not record why Karpenter ended a node");
  });

  it("reads a trail's log files, zipped and in their folders", async () => {
    const half = churn.length / 2;
    for (const [name, records] of [
      ["2026/11/20/a.json.gz", churn.slice(0, half)],
      ["2026/11/21/b.json.gz", churn.slice(half)],
    ] as const) {
      const path = join(folder, "AWSLogs/111122223333/CloudTrail/us-east-1", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, gzipSync(JSON.stringify({ Records: records })));
    }
    writeFileSync(join(folder, "AWSLogs/read-me.txt"), "not a log file");
    const { exit, output } = await advise("--from", join(folder, "AWSLogs"));
    expect(exit).toBe(0);
    expect(output).toContain("20 nodes launched, 20 taken away by Karpenter");
  });

  it("separates clusters of the same name in several accounts or regions", async () => {
    const elsewhere = { recipientAccountId: "444455556666", awsRegion: "us-west-2" };
    const launches = [fleet(1, 0), terminate(1, 5), { ...fleet(2, 0), ...elsewhere }];
    const { exit, reported } = await advise("--from", exported(launches));
    expect(exit).toBe(2);
    expect(reported).toContain("111122223333/us-east-1, 444455556666/us-west-2");
    const alone = await advise("--from", exported([fleet(1, 0), { ...terminate(9, 5), ...elsewhere }]));
    expect(alone.exit).toBe(0);
  });

  it("reports the cost in money where prices are given", async () => {
    const prices = join(folder, "prices.json");
    writeFileSync(prices, JSON.stringify({ "m5.large": 0.6 }));
    const { output } = await advise(
      "--from",
      exported(churn),
      "--prices",
      prices,
      "-o",
      "json",
      "--holds",
      "45m",
    );
    const [{ candidates }] = JSON.parse(output).advice;
    expect(candidates[0].money).toBeCloseTo(candidates[0].idleMinutes / 100);
  });

  it("shows the money in the report, and names the instance types without a price", async () => {
    const html = join(folder, "priced.html");
    const prices = join(folder, "some-prices.json");
    writeFileSync(prices, JSON.stringify({ "m5.large": 0.6 }));
    const { output } = await advise("--from", exported(churn), "--prices", prices, "--html", html);
    expect(readFileSync(html, "utf8")).toContain("The same in money");
    expect(output).toMatch(/Recommended: .* in money\)/);
    expect(output).not.toContain("No price is known");

    writeFileSync(prices, JSON.stringify({ "c7g.large": 0.6 }));
    const unpriced = await advise("--from", exported(churn), "--prices", prices, "--html", html);
    const named = "No price is known for m5.large (20 of 20 nodes)";
    expect(unpriced.output).toContain(named);
    expect(readFileSync(html, "utf8")).toContain(named);
    expect(readFileSync(html, "utf8")).not.toContain("The same in money");
  });

  it("writes a self-contained report that escapes names", async () => {
    const html = join(folder, "advice.html");
    const named = JSON.parse(JSON.stringify(churn).replaceAll('"batch"', '"<script>alert(1)</script>"'));
    writeFileSync(html, "from before", { mode: 0o644 });
    const { exit, reported } = await advise("--from", exported([...churn, ...named]), "--html", html);
    expect(exit).toBe(0);
    expect(reported).toContain(html);
    expect((statSync(html).mode & 0o777).toString(8)).toBe("600");
    const page = readFileSync(html, "utf8");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain("recommended: 20m");
    expect(page).toContain("hold=auto");
    expect(page).toContain("<svg");
    expect(page).not.toContain("<script");
    expect(page.match(/(?:src|href)=/g)).toBeNull();
  });

  it("caches by account and region, because clusters there may have the same name", async () => {
    let account = "111122223333";
    const aws = await fakeAws(({ headers }) =>
      headers["x-amz-target"]
        ? jsonError("ExpiredTokenException", "expired")
        : { body: `<R><GetCallerIdentityResult><Account>${account}</Account></GetCallerIdentityResult></R>` },
    );
    vi.stubEnv("AWS_ACCESS_KEY_ID", "fake");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "fake");
    const keptFrom = async (region: string) => {
      const terminal = new CollectedTerminal({ XDG_CACHE_HOME: folder, AWS_REGION: region });
      await commandLine(["advise", "--cluster", "prod", "--endpoint-url", aws.client.endpoint], terminal);
      return /kept in (\S+);/.exec(terminal.reported)?.[1]?.replace(folder, "");
    };
    try {
      expect(await keptFrom("eu-west-1")).toBe(
        "/karpenter-node-holder/advise-111122223333-eu-west-1-prod.jsonl",
      );
      account = "444455556666";
      expect(await keptFrom("us-east-1")).toBe(
        "/karpenter-node-holder/advise-444455556666-us-east-1-prod.jsonl",
      );
    } finally {
      await aws.close();
    }
  });

  it("names the path when a report cannot be written, and does not ask for a bug report", async () => {
    const html = join(folder, "nowhere", "advice.html");
    const { exit, reported } = await advise("--from", exported(churn), "--html", html);
    expect(exit).toBe(1);
    expect(reported).toContain(html);
    expect(reported).toContain("Check that path");
    expect(reported).not.toContain("please report it");
  });

  it("ends with 2 for invalid prices, naming each", async () => {
    const prices = join(folder, "prices.json");
    writeFileSync(prices, JSON.stringify({ "m5.large": "cheap" }));
    const { exit, reported } = await advise("--from", exported(churn), "--prices", prices);
    expect(exit).toBe(2);
    expect(reported).toContain("m5.large must be a price an hour");
  });

  it("says what to check when no node of the cluster was found", async () => {
    const { exit, reported } = await advise("--from", exported([fleet(1, 0, "other")]));
    expect(exit).toBe(1);
    expect(reported).toContain("no launch of a Karpenter node of cluster prod");
  });
});
