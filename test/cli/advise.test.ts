import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { fakeAws, jsonError } from "../support/fake-aws.ts";
import { newFolder } from "../support/new-folder.ts";
import {
  aClaim,
  advise,
  adviseOn,
  aNode,
  aNodePool,
  anEvent,
  aPod,
  clusterWith,
  karpentersPod,
} from "./advise-cluster.ts";
import { fleet, terminate } from "./cloudtrail-records.ts";
import { churn, nth } from "./karpenter-lines.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const quiet = {
  nodePools: [aNodePool({ name: "default" })],
  nodeClaims: [],
  nodes: [],
  pods: [karpentersPod()],
};
const readable = { ...quiet, pdbs: [], jobs: [], events: [] };
const logOf = (lines: readonly string[]) => {
  const path = join(folder, "karpenter.log");
  writeFileSync(path, lines.join("\n"));
  return path;
};

describe("advise with a kubeconfig and nothing else", () => {
  it("shows what Karpenter did by each source, what may happen when, what to change, and what costs least", async () => {
    const names = [1, 2, 3].map((n) => nth(n, "default"));
    const { exit, output } = await adviseOn({
      nodePools: [aNodePool({ name: "default", disruption: { consolidateAfter: "30s" } })],
      nodeClaims: names.map((name, n) => aClaim({ name, age: hours(20 * (n + 1)) })),
      nodes: names.map((name) => aNode({ name })),
      pods: [karpentersPod(), aPod({ name: "web-1", node: names[0] ?? "" })],
      ...{ pdbs: [], jobs: [{ metadata: { name: "report", namespace: "default" } }] },
      events: [
        anEvent("NodeClaim", "default-gone1", "Launched", "Status condition transitioned", minutes(50)),
        anEvent(
          "NodeClaim",
          "default-gone1",
          "DisruptionTerminating",
          "Disrupting NodeClaim: Underutilized",
          minutes(20),
        ),
        anEvent("Pod", "report-x7k2p", "Evicted", "Evicted pod: Underutilized", minutes(19)),
        anEvent("Pod", "web-0", "Evicted", "Evicted pod: Underutilized", minutes(19)),
      ],
      log: churn(20).join("\n"),
      metrics: [
        'karpenter_nodeclaims_created_total{nodepool="default",reason="provisioned"} 210',
        'karpenter_nodeclaims_terminated_total{nodepool="default"} 198',
        'karpenter_nodeclaims_disrupted_total{nodepool="default",reason="empty"} 40',
        'karpenter_nodeclaims_disrupted_total{nodepool="default",reason="expired"} 3',
        'karpenter_pods_disruption_initiated_total{nodepool="default",reason="empty"} 7',
      ].join("\n"),
    });
    expect(exit).toBe(0);
    const lines = output.split("\n");
    expect(lines.filter((line) => !line.startsWith("    ") && line.length > 80)).toEqual([]);
    // Times of the look itself are of no interest.
    const steady = output
      .replace(/\d\d [A-Z]\w\w, \d\d:\d\d(?= +21 Nov)/, "xx xxx, xx:xx")
      .replace(/(21 Nov, 12:00 +).*/, "$1x")
      .replace(/\S+\/kubeconfig /, "KUBECONFIG ");
    // A change is accepted with `npx vitest run test/cli/advise --update`, and read in the diff.
    await expect(`${steady}\n`).toMatchFileSnapshot("printed/advice.txt");
  });

  it("names the reason alone where version 1.0 adds what is done", async () => {
    const message = "Disrupting NodeClaim: Underutilized/replace";
    const events = [anEvent("NodeClaim", "default-gone1", "DisruptionTerminating", message, minutes(20))];
    const { output } = await adviseOn({ ...readable, events }, "-o", "json");
    expect(JSON.parse(output).happened[0].byReason).toEqual({ Underutilized: 1 });
  });

  it("counts no event about a NodeClaim without a name", async () => {
    const events = [anEvent("NodeClaim", "", "Finalized", "Finalized karpenter.sh/termination", minutes(20))];
    const { output } = await adviseOn({ ...readable, events }, "-o", "json");
    expect(JSON.parse(output).happened[0].removed).toBe(0);
  });

  it("says of each part that it may not read that it is unknown, and never 0", async () => {
    const { exit, output } = await adviseOn({ pods: [karpentersPod()] });
    expect(exit).toBe(0);
    expect(output).toMatch(/^ {2}NodePools +no: no right \(403\)$/m);
    expect(output).toMatch(/^ {2}Karpenter's log +no: no right \(403\)$/m);
    expect(output).toContain("now: unknown");
    expect(output).toContain("before: unknown, because no source could be read");
    expect(output).toContain("unknown: no NodePool could be read");
    expect(output).toContain("nothing was found in what was read");
    expect(output).toContain("could not be read: NodePools,");
    expect(output).toContain("Nothing is ranked: only Karpenter's log has the pods");
    expect(output).not.toMatch(/ 0( |$)/m);
  });

  it("takes no events of Karpenter at all for unknown, because it may write them under another name", async () => {
    const { output } = await adviseOn({ ...readable, metrics: "karpenter_nodeclaims_created_total 4" });
    const row = (name: string) => new RegExp(`^ {2}${name} +(.*)$`, "m").exec(output)?.[1];
    expect(row("nodes launched")).toMatch(/^unknown +4$/);
    expect(row("pods evicted")).toMatch(/^unknown +0$/);
    expect(row(" +of Jobs, at least")).toMatch(/^unknown +unknown$/);
  });

  it("does not count pods by metrics where this version of Karpenter has no counter for them", async () => {
    const pods = [karpentersPod("1.13.0")];
    const { output } = await adviseOn({ ...readable, pods, metrics: "karpenter_nodeclaims_created_total 4" });
    expect(output).toMatch(/^ {2}pods evicted +unknown +unknown$/m);
  });

  it("ends with 3 where it found something to change, and with 0 otherwise", async () => {
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    const nodePools = [aNodePool({ name: "default", annotations })];
    const found = await adviseOn({ ...readable, nodePools });
    expect(found.exit).toBe(3);
    expect(found.output).toContain("kubectl annotate nodepool default karpenter.sh/do-not-disrupt-");
    const none = await adviseOn(readable);
    expect(none.exit).toBe(0);
    expect(none.output).toMatch(/nothing was found$/m);
  });

  it("draws closed hours in the time zone that is asked for", async () => {
    const budgets = [{ nodes: "0", schedule: "0 0 * * *", duration: "12h" }];
    const nodePools = [aNodePool({ name: "default", disruption: { budgets } })];
    const { output } = await adviseOn({ ...readable, nodePools }, "--time-zone", "Asia/Kolkata");
    expect(output).toContain("in Asia/Kolkata");
    expect(output).toContain(`each day${"█".repeat(11)}${"·".repeat(24)}${"█".repeat(13)}  12h`);
  });

  it("mentions a holder that is at work there", async () => {
    const nodes = [aNode({ name: "a", labels: { [holdLabel]: "cluster-1" } })];
    expect((await adviseOn({ ...readable, nodes })).output).toContain(
      "The holder is at work here (nodes with its label: 1)",
    );
  });

  it("gives programs all of it under a name with a version", async () => {
    const { output, exit } = await adviseOn(
      { ...readable, log: churn(9).join("\n") },
      "-o",
      "json",
      "--price",
      "2",
    );
    expect(exit).toBe(0);
    const answer = JSON.parse(output);
    expect(answer.schema).toBe("karpenter-node-holder/advise/v1");
    expect(Object.keys(answer)).toEqual(
      [
        "schema",
        "cluster",
        "readAt",
        "timeZone",
        "sources",
        "present",
        "happened",
        "allowed",
        "findings",
      ].concat([...["unread", "ranking", "advice", "notes"]]),
    );
    expect(answer.happened[1]).toMatchObject({
      source: "log",
      launched: 9,
      removed: 9,
      byReason: { Underutilized: 9 },
    });
    expect(answer.happened[1]).not.toHaveProperty("jobsKilled");
    expect(answer.allowed[0].reasons.map(({ reason }: { reason: string }) => reason)).toEqual([
      ...["Empty", "Underutilized", "Drifted"],
    ]);
    for (const { money, saves } of answer.ranking.candidates) expect(money).toBeCloseTo(2 * saves);
    expect(answer.ranking.limits).toContain("takes the next launch");
    expect(answer.advice.commands.length).toBeGreaterThan(0);
  });

  it("shows names as plain lines, whatever they contain", async () => {
    const nodes = [
      aNode({
        name: "a\u001b[32m\nYou need the holder",
        annotations: { "karpenter.sh/do-not-disrupt": "1h" },
      }),
    ];
    const { output } = await adviseOn({ ...readable, nodes });
    expect(output).toContain("node a You need the holder");
    expect(output).not.toContain("\u001b");
  });

  it("fails at once where the cluster cannot be reached", async () => {
    const { kubeconfig, server } = await clusterWith(readable);
    await server.stop();
    const { exit, output, reported } = await advise("--kubeconfig", kubeconfig, "--time-zone", "UTC");
    expect({ exit, output }).toEqual({ exit: 1, output: "" });
    expect(reported).toContain("the cluster cannot be reached: ");
    expect(reported).toContain("--kubeconfig and --context");
  });
});

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

  it("joins a cluster that is named, and the longer log counts", async () => {
    const path = logOf(churn(20));
    const served = { ...readable, log: churn(3, { first: 50 }).join("\n") };
    const { output } = await adviseOn(served, "--log", path);
    expect(output).toMatch(/nodes launched +unknown +20$/m);
    expect(output).toContain("WhenEmpty");
  });

  it("prints the command that starts the winner, with the flags that find the cluster", async () => {
    const { output } = await adviseOn({
      ...readable,
      nodes: [aNode({ name: "a" })],
      log: churn(20).join("\n"),
    });
    expect(output).toMatch(
      /^ {4}karpenter-node-holder run --kubeconfig \S+ --hold auto --relaunch-cost 5m --eviction-cost 3m/m,
    );
    expect(output).toMatch(
      /^ {4}npx cdk deploy -c cluster=fake -c hold=auto -c relaunchCost=5m -c evictionCost=3m$/m,
    );
  });

  it("ends with 2 for a file without a line of Karpenter", async () => {
    const { exit, reported } = await advise("--log", logOf(["nothing", "{}"]));
    expect(exit).toBe(2);
    expect(reported).toContain("has no line of Karpenter as JSON");
  });
});

describe("advise on CloudTrail", () => {
  const churned = Array.from({ length: 20 }, (_, i) => [fleet(i, i * 10), terminate(i, i * 10 + 5)]).flat();
  const exported = (records: readonly object[]) => {
    const path = join(folder, "records.json");
    writeFileSync(path, JSON.stringify({ Records: records }));
    return path;
  };
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
    for (const [name, records] of [
      ["2026/11/20/a.json.gz", churned.slice(0, 20)],
      ["2026/11/21/b.json.gz", churned.slice(20)],
    ] as const) {
      const path = join(folder, "AWSLogs/111122223333/CloudTrail/us-east-1", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, gzipSync(JSON.stringify({ Records: records })));
    }
    writeFileSync(join(folder, "AWSLogs/read-me.txt"), "not a log file");
    expect((await onTrail("--from", join(folder, "AWSLogs"))).output).toMatch(/nodes launched +20$/m);
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
      expect((await onTrail(...flags, ...since)).reported).toContain(`kept in ${join(folder, "kept")};`);
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
    for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID: "fake", AWS_SECRET_ACCESS_KEY: "fake" }))
      vi.stubEnv(name, value);
    const keptFrom = async (region: string) => {
      const terminal = new CollectedTerminal({ XDG_CACHE_HOME: folder, AWS_REGION: region });
      await commandLine(["advise", "--cluster", "prod", "--endpoint-url", aws.client.endpoint], terminal);
      return /kept in (\S+);/.exec(terminal.reported)?.[1]?.replace(folder, "");
    };
    const kept = (name: string) => `/karpenter-node-holder/advise-${name}-prod.jsonl`;
    try {
      expect(await keptFrom("eu-west-1")).toBe(kept("111122223333-eu-west-1"));
      account = "444455556666";
      expect(await keptFrom("us-east-1")).toBe(kept("444455556666-us-east-1"));
    } finally {
      await aws.close();
    }
  });
});

describe("prices", () => {
  it("name the instance types that have none, and then nothing is shown in money", async () => {
    const prices = join(folder, "prices.json");
    writeFileSync(prices, JSON.stringify({ "c7g.large": 0.6 }));
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
    const prices = join(folder, "prices.json");
    writeFileSync(prices, text);
    const { exit, reported } = await advise("--log", logOf(churn(3)), "--prices", prices);
    expect(exit).toBe(2);
    expect(reported.replace(prices, "PATH")).toContain(`error: These prices cannot be used: ${expected}`);
  });
});
