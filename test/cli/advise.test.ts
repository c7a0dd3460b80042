import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { fakeAws, jsonError } from "../support/fake-aws.ts";
import { newFolder } from "../support/new-folder.ts";
import { fleet, terminate } from "./cloudtrail-records.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("advise", () => {
  const churnFrom = (first: number) =>
    Array.from({ length: 20 }, (_, i) => [fleet(first + i, i * 10), terminate(first + i, i * 10 + 5)]).flat();
  const churn = churnFrom(0);
  /** The same for other instances, in a NodePool of this name. */
  const churnIn = (nodePool: string): typeof churn =>
    JSON.parse(JSON.stringify(churnFrom(100)).replaceAll('"batch"', JSON.stringify(nodePool)));
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

  it("recommends the best hold and prints the command that deploys it, with every setting that is not the default", async () => {
    const records = exported([...churn, fleet(99, 3 * 24 * 60)]);
    const { exit, output } = await advise("--from", records);
    expect(exit).toBe(0);
    expect(output).toMatch(/^From 2026-11-21 12:00 to 2026-11-24 12:00 UTC, 3.0 days. Figures are a month's/);
    expect(output).toContain(
      "21 nodes launched, 20 removed by Karpenter, 19 of those needed again within 10m",
    );
    expect(output).toMatch(/^Recommended: hold=45m saves 160 relaunches .* node-hours a month\.$/m);
    expect(output).toMatch(/^To deploy it: npx cdk deploy -c cluster=prod -c hold=45m$/m);
    const changed = [
      "--max-hold",
      "4h",
      "--breather",
      "10m",
      "--scope",
      "nodepool",
      "--relaunch-cost",
      "12m",
    ];
    const other = await advise("--from", records, "--holds", "1h", ...changed);
    expect(other.output).toMatch(/ -c cluster=prod -c hold=1h -c maxHold=4h -c scope=nodepool$/m);
    expect(other.output).toContain("Holds are by NodePool, 4h at most, with a breather of 10m.");
  });

  it("shows names of NodePools as plain lines, whatever was tagged", async () => {
    const forged = churnIn("\u001b[32mx\nRecommended: nothing");
    const { output } = await advise("--from", exported([...churn, ...forged]));
    expect(output).toContain("nodepool/x Recommended: nothing  ");
    expect(output).not.toContain("\u001b");
    expect(output).not.toMatch(/^Recommended: nothing/m);
  });

  it("gives programs each hold that it tried, in one price for all", async () => {
    const { output } = await advise(
      "--from",
      exported(churn),
      "--price",
      "0.6",
      "--holds",
      "20m,45m",
      "-o",
      "json",
    );
    const { figures, advice } = JSON.parse(output);
    const [{ candidates, recommended }] = advice;
    expect(figures).toBe("in that time");
    expect(candidates.map(({ hold }: { hold: string }) => hold).toSorted()).toEqual(["20m", "45m"]);
    expect(candidates[0].money).toBeCloseTo(candidates[0].net * 0.6);
    expect(recommended).toBe(candidates[0].hold);
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
    expect(output).toContain("20 nodes launched, 20 removed by Karpenter");
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

  it("shows the money in the report, and names the instance types without a price", async () => {
    const html = join(folder, "priced.html");
    const prices = join(folder, "some-prices.json");
    writeFileSync(prices, JSON.stringify({ "m5.large": 0.6 }));
    const { output } = await advise("--from", exported(churn), "--prices", prices, "--html", html);
    const words = readFileSync(html, "utf8")
      .replaceAll(/<(style|svg)\b.*?<\/\1>/gs, "")
      .replaceAll("</tr>", "$&\n");
    expect(words).toContain("NET AT YOUR PRICES");
    expect(output).not.toContain("No price is known");
    // A change is accepted with `npx vitest run test/cli/advise --update`, and read in the diff.
    await expect(`${output}\n${words}`).toMatchFileSnapshot("printed/advice.txt");

    writeFileSync(prices, JSON.stringify({ "c7g.large": 0.6 }));
    const rest = await advise("--from", exported(churn), "--prices", prices, "--price", "0.6");
    expect(rest.output).toMatch(/Recommended: .* at your prices\)/);
    const unpriced = await advise("--from", exported(churn), "--prices", prices, "--html", html);
    const named = "No price is known for m5.large (20 of 20 nodes)";
    expect(unpriced.output).toContain(named);
    expect(readFileSync(html, "utf8")).toContain(named);
    expect(readFileSync(html, "utf8")).not.toContain("NET AT YOUR PRICES");
  });

  it("writes a self-contained report that escapes names", async () => {
    const html = join(folder, "advice.html");
    writeFileSync(html, "", { mode: 0o644 });
    const named = churnIn("<script>alert(1)</script>");
    const records = exported([...churn, ...named]);
    const { exit, reported } = await advise("--from", records, "--relaunch-cost", "12m", "--html", html);
    expect(exit).toBe(0);
    expect(reported).toContain(html);
    expect((statSync(html).mode & 0o777).toString(8)).toBe("600");
    const page = readFileSync(html, "utf8");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toMatch(/recommended: \d+m/);
    expect(page).toContain("<svg");
    expect(page).toContain("NodePool &lt;script&gt;");
    expect(page).not.toContain("<script");
    expect(page.match(/(?:src|href)=/g)).toBeNull();
  });

  it("asks for as much of the past as --since says but the newest quarter of an hour, and keeps it in --cache", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "fake");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "fake");
    const aws = await fakeAws(() => jsonError("ExpiredTokenException", "expired"));
    const flags = [
      "--endpoint-url",
      aws.client.endpoint,
      "--region",
      "eu-west-1",
      "--cache",
      join(folder, "kept"),
    ];
    const now = Date.now() / 1000;
    for (const since of [["--since", "2d"], []])
      expect((await advise(...flags, ...since)).reported).toContain(`kept in ${join(folder, "kept")};`);
    const asked = aws.requests.map(({ body }) => JSON.parse(body)).filter(({ StartTime }) => StartTime);
    await aws.close();
    const hoursAgo = (time: number) => Math.round((now - time) / 900) / 4;
    expect(asked.map(({ StartTime, EndTime }) => [StartTime, EndTime].map(hoursAgo))).toEqual([
      [48, 0.25],
      [168, 0.25],
    ]);
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

  it("refuses a path that no report can be written to before it reads anything, and leaves the report that is there", async () => {
    const html = join(folder, "nowhere", "advice.html");
    const { exit, reported } = await advise("--from", "nothing-to-read", "--html", html);
    expect(exit).toBe(1);
    expect(reported).toContain(html);
    expect(reported).toContain("Check that path");
    expect(reported).not.toContain("please report it");

    const before = join(folder, "before.html");
    writeFileSync(before, "as it was");
    for (const path of [before, join(folder, "new.html")])
      expect((await advise("--from", "nothing-to-read", "--html", path)).exit).not.toBe(0);
    expect(readFileSync(before, "utf8")).toBe("as it was");
    expect(readdirSync(folder)).toEqual(["before.html"]);
  });

  it.each([
    [
      '{"m5.large":"cheap","c5.large":-1}',
      'm5.large must be a price an hour, not "cheap"; c5.large must be a price an hour, not -1',
    ],
    ["[]", "PATH must be an object"],
    ["m5", 'PATH must be JSON like {"m5.large": 0.096}: '],
  ])("ends with 2 for prices %s, naming what is wrong", async (text, expected) => {
    const prices = join(folder, "prices.json");
    writeFileSync(prices, text);
    const { exit, reported } = await advise("--from", exported(churn), "--prices", prices);
    expect(exit).toBe(2);
    expect(reported.replace(prices, "PATH")).toContain(`error: These prices cannot be used: ${expected}`);
  });
});
