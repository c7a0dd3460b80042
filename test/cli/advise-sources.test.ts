import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fakeAws, json, jsonError } from "../support/fake-aws.ts";
import { newFolder } from "../support/new-folder.ts";
import { advise, adviseOn, clusterWith, readable } from "./advise-cluster.ts";
import { fleet, terminate } from "./cloudtrail-records.ts";
import { at, churn } from "./karpenter-lines.ts";

/** The path of a new file with this text. */
const fileOf = (text: string | Buffer) => {
  const path = join(newFolder(), "file");
  writeFileSync(path, text);
  return path;
};
const logOf = (lines: readonly string[]) => fileOf(lines.join("\n"));

describe("advise on a saved log", () => {
  it("needs no cluster, and tries no setting of NodePools that it has not read", async () => {
    const { exit, output } = await advise("--log", logOf(churn(20)));
    expect(exit).toBe(0);
    expect(output).toMatch(/log files +3h16m of it, to 2026-11-21T15:16Z/);
    expect(output).toContain("hold=auto");
    expect(output).not.toContain("WhenEmpty ");
    expect(output).toContain("Karpenter's own settings were not tried");
    expect(output).not.toContain("What your NodePools allow");
  });

  it("tries a hold once that is named twice", async () => {
    const { output } = await advise("--log", logOf(churn(20)), "--holds", "1h,60m");
    expect(output.match(/^.*hold=1h.*$/gm)).toHaveLength(1);
  });

  it.each([undefined, "Etc/Unknown"])("is in UTC where this machine's time zone is %s", async (timeZone) => {
    const options = { ...new Intl.DateTimeFormat().resolvedOptions(), timeZone };
    vi.spyOn(Intl.DateTimeFormat.prototype, "resolvedOptions").mockReturnValue(
      options as Intl.ResolvedDateTimeFormatOptions,
    );
    onTestFinished(() => void vi.restoreAllMocks());
    const { exit, output } = await advise("--log", logOf(churn(3)), "-o", "json");
    expect([exit, JSON.parse(output).timeZone]).toEqual([0, "UTC"]);
  });

  it.each([
    ["UTF-8", "utf8"],
    ["UTF-16, as Windows PowerShell redirects output,", "utf16le"],
  ] as const)("reads it, and prices, also as %s with a byte order mark", async (_, encoding) => {
    const encoded = (text: string) => fileOf(Buffer.from(`\uFEFF${text}`, encoding));
    const prices = encoded(JSON.stringify({ "m5.2xlarge": 0.6 }));
    const { exit, output } = await advise("--log", encoded(churn(20).join("\n")), "--prices", prices);
    expect(exit).toBe(0);
    expect(output).toContain("3h16m of it");
    expect(output).toContain("at your prices");
  });

  it("joins a cluster that is named, and the longer log counts", async () => {
    const path = logOf(churn(20));
    const served = { ...readable, log: churn(3, { first: 50 }).join("\n") };
    const { output } = await adviseOn(served, "--log", path);
    expect(output).toMatch(/nodes launched +unknown +20$/m);
    expect(output).toContain("WhenEmpty");
  });

  it("ends with its last line, and a cluster's when that is read", async () => {
    vi.useFakeTimers({ now: at(600), toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const saved = await advise("--log", logOf(churn(3)));
    expect(saved.output).toMatch(/log files +26m of it/);
    const live = await adviseOn({ ...readable, log: churn(3).join("\n") });
    expect(live.output).toMatch(/Karpenter's log +10h of it/);
  });
});

describe("advise on CloudTrail", () => {
  const churned = Array.from({ length: 20 }, (_, i) => [fleet(i, i * 10), terminate(i, i * 10 + 5)]).flat();
  const exported = (records: readonly object[]) => fileOf(JSON.stringify({ Records: records }));
  const onTrail = (...words: readonly string[]) => advise("--cluster", "prod", ...words);

  it("counts nodes, and ranks nothing, because CloudTrail has neither pods nor reasons", async () => {
    const { exit, output } = await onTrail("--from", exported(churned));
    expect(exit).toBe(0);
    expect(output).toMatch(/nodes launched +20$/m);
    expect(output).toMatch(/nodes removed +20$/m);
    expect(output).toMatch(/needed again in 10m +19$/m);
    for (const row of ["underutilized", "pods evicted", "of Jobs, at least"])
      expect(output).toMatch(new RegExp(`^ +${row} +unknown$`, "m"));
    expect(output).toContain("Nothing is ranked: CloudTrail has neither pods nor reasons");
  });

  it("reads a trail's log files, zipped and in their folders", async () => {
    const folder = newFolder();
    for (const [day, Records] of [churned.slice(0, 20), churned.slice(20)].entries()) {
      const path = join(folder, `111122223333/CloudTrail/us-east-1/2026/11/2${day}/a.json.gz`);
      mkdirSync(dirname(path), { recursive: true });
      const text = JSON.stringify({ Records });
      writeFileSync(path, gzipSync(Buffer.from(`\uFEFF${text}`, "utf16le")));
    }
    writeFileSync(join(folder, "read-me.txt"), "not a log file");
    expect((await onTrail("--from", folder)).output).toMatch(/nodes launched +20$/m);
  });

  it("separates clusters of the same name in several accounts or regions", async () => {
    const elsewhere = { recipientAccountId: "444455556666", awsRegion: "us-west-2" };
    const launches = [fleet(1, 0), terminate(1, 5), { ...fleet(2, 0), ...elsewhere }];
    const { exit, reported } = await onTrail("--from", exported(launches));
    expect(exit).toBe(2);
    expect(reported).toContain("111122223333/us-east-1, 444455556666/us-west-2");
    const alone = await onTrail("--from", exported([fleet(1, 0), { ...terminate(9, 5), ...elsewhere }]));
    expect(alone.exit).toBe(0);
  });

  const expired = jsonError("ExpiredTokenException", "expired");
  const onAws = async (...about: Parameters<typeof fakeAws>) => {
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) vi.stubEnv(name, "fake");
    const aws = await fakeAws(...about);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await aws.close();
    });
    return { aws, flags: ["--endpoint-url", aws.client.endpoint, "--region", "eu-west-1"] };
  };

  it("asks for as much of the past as --since says but the newest quarter of an hour", async () => {
    const isLookUp = (body: string) => body.includes("StartTime");
    const { aws, flags } = await onAws(({ body }) => (isLookUp(body) ? expired : json({ Events: [] })));
    const now = Date.now() / 1000;
    for (const since of [["--since", "2d"], []])
      expect((await onTrail(...flags, ...since)).reported).toContain("the AWS credentials have expired");
    const asked = aws.requests.flatMap(({ body }) => (isLookUp(body) ? [JSON.parse(body)] : []));
    const hoursAgo = (time: number) => Math.round((now - time) / 900) / 4;
    expect(asked.map(({ StartTime, EndTime }) => [StartTime, EndTime].map(hoursAgo))).toEqual([
      [48, 0.25],
      [168, 0.25],
    ]);
  });

  it("that has no launch takes nothing from what a cluster has shown", async () => {
    const { flags } = await onAws(() => json({ Events: [] }));
    const { exit, output } = await adviseOn(readable, "--cluster", "prod", ...flags);
    expect(exit).toBe(0);
    expect(output).toMatch(/^ {2}NodePools +1$/m);
    expect(output).toMatch(/^ {2}CloudTrail +no: no launch of a Karpenter node of cluster prod was found/m);
  });

  it("reads no cluster first where CloudTrail cannot be read", async () => {
    const { server, kubeconfig } = await clusterWith({});
    await server.stop();
    const { flags } = await onAws(() => expired);
    for (const words of [flags, ["--from", exported([])]]) {
      const { exit, reported } = await onTrail("--kubeconfig", kubeconfig, ...words);
      expect([exit, reported]).toEqual([1, expect.stringMatching(/^error: (the AWS cred|no launch of)/)]);
    }
  });
});

describe("prices", () => {
  it("name the instance types that have none, and then nothing is shown in money", async () => {
    const prices = fileOf(JSON.stringify({ "c7g.large": 0.6 }));
    const log = logOf(churn(20));
    const without = await advise("--log", log, "--prices", prices);
    expect(without.output).toContain("No price is known for m5.2xlarge (20 of 20 nodes)");
    expect(without.output).not.toContain("MONEY");
    const others = await advise("--log", log, "--prices", prices, "--price", "0.6");
    expect(others.output).toContain("MONEY");
    expect(others.output).toContain("at your prices");
  });

  it.each([
    [
      '{"m5.large":"cheap","c5.large":-1}',
      'm5.large must be a price an hour, not "cheap"; c5.large must be a price an hour, not -1',
    ],
    ["[]", "PATH must be an object"],
    ["m5", 'PATH must be JSON like {"m5.large": 0.096}: '],
  ])("%s end with 2, naming what is wrong", async (text, expected) => {
    const prices = fileOf(text);
    const { exit, reported } = await advise("--log", logOf(churn(3)), "--prices", prices);
    expect(exit).toBe(2);
    expect(reported.replace(prices, "PATH")).toContain(`error: These prices cannot be used: ${expected}`);
  });

  it("of a file that is not there say so, and nothing of JSON", async () => {
    const { exit, reported } = await advise("--log", logOf(churn(3)), "--prices", "/nowhere");
    expect(exit).toBe(2);
    expect(reported).toContain("error: These prices cannot be used: /nowhere: no such file or directory\n");
  });
});
