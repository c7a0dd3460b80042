import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BadInputError, TryAgainError } from "../../lambda/core/errors.ts";
import { Metric } from "../../lambda/core/metrics.ts";
import { type InvocationContext, invocation } from "../../lambda/invocation.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { Telemetry } from "../../lambda/telemetry/powertools.ts";
import { version } from "../../lambda/version.ts";

const context: InvocationContext = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };

describe("what an invocation reports", () => {
  const lines: Record<string, unknown>[] = [];
  beforeEach(() => {
    // Lets the library write to the console that a test can read.
    vi.stubEnv("POWERTOOLS_DEV", "true");
    vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "false");
    for (const method of ["log", "info", "warn", "error"] as const) {
      vi.spyOn(console, method).mockImplementation((line: string) => void lines.push(JSON.parse(line)));
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    lines.length = 0;
  });

  it("carries cluster, version and request in every line", async () => {
    const telemetry = new Telemetry("prod");
    const handler = invocation(telemetry, systemClock, async () =>
      telemetry.log.warn("hold closed", { scope: "cluster" }),
    );
    await handler({}, context);
    const ofAll = { service: "karpenter-node-holder", cluster: "prod", version, requestId: "request-1" };
    const line = { message: "hold closed", level: "WARN", scope: "cluster", ...ofAll };
    expect(lines).toEqual([expect.objectContaining(line)]);
  });

  it("reports metrics with the cluster as their only dimension, also after a failure", async () => {
    const telemetry = new Telemetry("prod");
    const handler = invocation(telemetry, systemClock, async () => {
      telemetry.metrics.add("NodesHeld", 3);
      telemetry.metrics.add("LaunchToProtectedMs", 850);
      throw new TryAgainError("DynamoDB is out of reach", { cause: new Error("timeout") });
    });
    await expect(handler({}, context)).rejects.toThrow("out of reach");

    const [failure, metrics] = lines;
    const error = { cause: { message: "timeout" } };
    expect(failure).toMatchObject({ level: "ERROR", message: "invocation failed", error });
    const Metrics = [
      { Name: "NodesHeld", Unit: "Count" },
      { Name: "LaunchToProtectedMs", Unit: "Milliseconds" },
    ];
    const CloudWatchMetrics = [{ Namespace: "KarpenterNodeHolder", Dimensions: [["Cluster"]], Metrics }];
    const values = { Cluster: "prod", NodesHeld: 3, LaunchToProtectedMs: 850 };
    expect(metrics).toMatchObject({ ...values, _aws: { CloudWatchMetrics } });
  });

  it.each([
    ["full", ["NodesHeld", "ReleaseLagMs"]],
    ["alarms", ["ReleaseLagMs"]],
    ["none", []],
  ])("emits with monitoring=%s only these metrics: %j", async (monitoring, expected) => {
    const telemetry = new Telemetry("prod", monitoring);
    const handler = invocation(telemetry, systemClock, async () => {
      telemetry.metrics.add("NodesHeld", 3);
      telemetry.metrics.add("ReleaseLagMs", 5);
    });
    await handler({}, context);
    expect(lines.flatMap((line) => Object.keys(line).filter((key) => key in Metric))).toEqual(expected);
  });

  it("sends its events before it reports, also after a failure, and leaves Lambda a second", async () => {
    const telemetry = new Telemetry("prod");
    const given: number[] = [];
    telemetry.events = {
      send: async (within) => {
        given.push(within);
        telemetry.metrics.add("EventsFailed", 1);
      },
    };
    const handler = invocation(telemetry, systemClock, async () => {
      throw new TryAgainError("DynamoDB is out of reach");
    });
    await expect(handler({}, context)).rejects.toThrow("out of reach");

    expect(given).toEqual([59_000]);
    expect(lines.at(-1)).toMatchObject({ EventsFailed: 1 });
  });

  it("reports which calls it made and when, and what it took of the processor; nothing where it made none", async () => {
    const telemetry = new Telemetry("prod");
    const handler = invocation(telemetry, systemClock, async (calls: unknown) => {
      for (const call of calls as string[]) await telemetry.calls.time(call, async () => {});
    });
    await handler(["GetItem", "PutItem", "GetItem"], context);
    await handler([], context);

    const times = { from: expect.any(Number), to: expect.any(Number) };
    expect(lines).toEqual([
      expect.objectContaining({
        message: "calls made",
        began: expect.any(String),
        cpuMs: expect.any(Number),
        calls: { GetItem: { count: 2, ...times }, PutItem: { count: 1, ...times } },
      }),
    ]);
  });

  it("logs refused input and failed work differently, and prints nothing of the environment", async () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "a-secret-of-the-function");
    const telemetry = new Telemetry("prod");
    const handler = invocation(telemetry, systemClock, async () => {
      throw new BadInputError("This request cannot be done", ["for must be a duration"]);
    });
    await expect(handler({}, context)).rejects.toThrow("for must be a duration");
    expect(lines).toEqual([expect.objectContaining({ message: "input refused", level: "ERROR" })]);
    expect(JSON.stringify(lines)).not.toContain("a-secret-of-the-function");
  });

  it("gives the handler an earlier deadline than Lambda's", async () => {
    const handler = invocation(new Telemetry("prod"), systemClock, async (_event, { deadline }) => deadline);
    const left = (await handler({}, context)).getTime() - Date.now();
    expect(left).toBeGreaterThan(40_000);
    expect(left).toBeLessThan(55_000);
  });
});
