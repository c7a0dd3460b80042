import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { Account } from "../../cli/doctor/aws/aws-account.ts";
import { after, hours } from "../../lambda/core/duration.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { aPastHold, aStatus } from "../support/builders.ts";
import { newFolder } from "../support/new-folder.ts";
import { alarmsWith, anAccount, anAlarm } from "./healthy-account.ts";

/** What the commands load when they run, replaced by what a test gives and looks at. */
const replaced = {
  account: "../../cli/doctor/aws/aws-account.ts",
  kubernetes: "../../cli/doctor/own-kubernetes.ts",
  root: "../../infra/package-root.ts",
} as const;
let account: Account = anAccount();
const opened: unknown[] = [];
/** The built package, for the templates. */
const built = newFolder();
vi.resetModules();
const ends: (AbortSignal | undefined)[] = [];
const awsAccount = (_: unknown, __: string, ended?: AbortSignal) => {
  ends.push(ended);
  return account;
};
vi.doMock(replaced.account, () => ({ awsAccount, mostSchedules: 1_000 }));
const ownKubernetes = (...given: unknown[]) => {
  opened.push(given);
  return {};
};
vi.doMock(replaced.kubernetes, () => ({ ownKubernetes }));
vi.doMock(replaced.root, () => ({ packageRoot: () => built, documentLink: (page: string) => page }));
const { holder } = await import("./fake-control.ts");
const { typed } = await import("../support/typed.ts");

afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  for (const module of Object.values(replaced)) vi.doUnmock(module);
  vi.resetModules();
});

describe("doctor", () => {
  const doctor = async (...flags: string[]) => (await holder(() => ({}))).run("doctor", ...flags);
  /** Its mapping is disabled until that is fixed. */
  const brokenAccount = () => {
    let state = "Disabled";
    return anAccount({
      mapping: async () => ({ id: "m", state, lastResult: "OK" }),
      enableMapping: async () => {
        state = "Enabled";
      },
    });
  };

  it.each([[], ["-o", "json"]])(
    "ends with 1 where something is broken, else with 0: %j",
    async (...flags) => {
      account = anAccount();
      expect((await doctor(...flags)).exit).toBe(0);
      account = brokenAccount();
      const { exit, reported, output } = await doctor(...flags);
      expect(exit).toBe(1);
      expect(output.includes('"fix": "enable the event source mapping"')).toBe(flags.length > 0);
      expect(reported).toBe("error: broken: mapping\nSome of it can be fixed with --fix.");
    },
  );

  it("asks no function any longer when it has ended: one that hangs would be asked again for minutes", async () => {
    account = anAccount();
    await doctor();
    expect(ends.at(-1)?.aborted).toBe(true);
    const seen: unknown[] = [];
    account = anAccount({ identity: async () => String(seen.push(ends.at(-1)?.aborted)) });
    await doctor();
    expect(seen).toEqual([false]);
  });

  it("ends with 1 for warnings, if that is asked for", async () => {
    account = anAccount(alarmsWith(anAlarm("sweep-silent", "ALARM")));
    const { exit, output } = await doctor("-o", "json");
    expect([exit, JSON.parse(output).verdict]).toEqual([0, "warn"]);
    const strict = await doctor("--strict");
    expect(strict.exit).toBe(1);
    expect(strict.reported).toMatch(/^error: warnings: .*alarms/);
  });

  it("checks again after a fix, and ends as that check does", async () => {
    account = brokenAccount();
    const { exit, reported, output } = await doctor("--fix", "-o", "json");
    expect([exit, reported]).toEqual([0, "Fixed: enable the event source mapping."]);
    expect(JSON.parse(output).findings).toContainEqual(
      expect.objectContaining({ link: "mapping", verdict: "ok" }),
    );
  });

  it("opens the given context of the given kubeconfig, and none unasked", async () => {
    account = anAccount();
    await doctor();
    expect(opened).toEqual([]);
    await doctor("--kubeconfig", "file", "--context", "blue");
    expect(opened).toEqual([["file", "blue"]]);
  });
});

it("template writes the chosen settings, for the chosen place", async () => {
  const Resources = {
    Hold: {
      Type: "AWS::Lambda::Function",
      Properties: { Code: "hold", Environment: { Variables: { HOLD: "" } } },
    },
    Alarm: { Type: "AWS::CloudWatch::Alarm", Properties: { AlarmName: "sweep-silent" } },
  };
  for (const part of ["template", "functions"]) mkdirSync(join(built, "dist", part), { recursive: true });
  writeFileSync(join(built, "dist/functions/hold.zip"), "");
  writeFileSync(join(built, "dist/template/install.json.gz"), gzipSync(JSON.stringify({ Resources })));
  const out = newFolder();
  const topic = "arn:aws:sns:us-east-1:111122223333:ops";
  const flags = ["--prefix", "a/b/", "--out", out, "--alarm-topic-arn", topic, "--hold", "30m"];
  const { exit, output } = await typed(["template", "--cluster", "prod", "--bucket", "assets", ...flags]);
  expect(exit).toBe(0);
  const { Hold, Alarm } = JSON.parse(readFileSync(join(out, "template.json"), "utf8")).Resources;
  expect(Hold.Properties).toMatchObject({
    Code: { S3Bucket: "assets", S3Key: expect.stringMatching(/^a\/b\/hold-[0-9a-f]{16}\.zip$/) },
    Environment: { Variables: { HOLD: "30m" } },
  });
  expect(existsSync(join(out, Hold.Properties.Code.S3Key.slice("a/b/".length)))).toBe(true);
  expect(Alarm.Properties.AlarmActions).toEqual([topic]);
  expect(output).toContain(`aws s3 cp --recursive ${out} s3://assets/a/b/`);
});

describe("history", () => {
  it("shows as many holds as --limit says, and ids with -o wide only", async () => {
    const past = aPastHold();
    const prod = await holder(() => ({ holds: [past] }));
    expect((await prod.run("history", "-o", "wide")).output).toContain(past.id);
    expect((await prod.run("history", "--limit", "7")).output).not.toContain(past.id);
    expect(prod.asked.at(-1)).toEqual({ do: "history", limit: 7 });
  });

  it("looks back as far as --since says, and sums up what caused the holds", async () => {
    const ended = (days: number, about: Partial<PastHold> = {}) => {
      const endedAt = after(new Date(), -hours(24 * days));
      return aPastHold({ startedAt: after(endedAt, -hours(1)), endedAt, ...about });
    };
    const requested = { launches: {}, requests: ["a", "b"] };
    const prod = await holder(() => ({ holds: [ended(1), ended(29, requested), ended(31)] }));
    const since = ["history", "--since", "30d"];
    const { output, reported } = await prod.run(...since);
    expect(output).toContain("\n2 holds of 2h in all, by 1 launch and 2 requests.");
    expect([prod.asked, reported]).toEqual([[{ do: "history", limit: 1_000 }], ""]);
    const json = await prod.run(...since, "--limit", "2", "-o", "json");
    expect(JSON.parse(json.output).holds).toMatchObject([{ nodes: 3 }, { requests: ["a", "b"] }]);
    expect(json.reported).toBe("These are the newest 2; there may be more.");
  });
});

it("status waits with --watch as long as --every says", async () => {
  const prod = await holder(() => JSON.parse(JSON.stringify(aStatus)));
  const timers = vi.spyOn(globalThis, "setTimeout");
  void prod.run("status", "--watch", "--every", "42m");
  const pause = await vi.waitFor(() => {
    const call = timers.mock.calls.findIndex(([, duration]) => duration === 42 * 60_000);
    expect(call).toBeGreaterThanOrEqual(0);
    return timers.mock.results[call]?.value;
  });
  clearTimeout(pause);
});
