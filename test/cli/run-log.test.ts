import { expect, it, onTestFinished, vi } from "vitest";
import { jsonLog, textLog } from "../../cli/views/run-log.ts";
import { version } from "../../lambda/version.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

const fields = {
  action: "extend",
  because: "a later launch",
  until: new Date("2026-10-31T12:30:05Z"),
  nodes: 3,
  missing: undefined,
  error: new Error("it failed", { cause: new Error("the wire was cut") }),
};

it("logs one line per event for people, without missing values and stack traces", () => {
  const terminal = new CollectedTerminal();
  textLog(terminal).warn("launch decided", fields);
  expect(terminal.output).toMatch(
    /^\d\d:\d\d:\d\dZ launch decided action=extend because="a later launch" until=2026-10-31 12:30:05Z nodes=3 error="it failed: the wire was cut"$/,
  );
});

it("names the day of each time from its second day on, because it may be read a week later", () => {
  vi.useFakeTimers({ now: new Date("2026-10-30T23:59:59Z"), toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const terminal = new CollectedTerminal();
  const log = textLog(terminal);
  log.info("held", { until: new Date("2026-10-30T23:59:59Z") });
  vi.setSystemTime(new Date("2026-10-31T00:00:01Z"));
  log.info("held", { until: new Date("2026-10-31T12:00:00Z") });
  expect(terminal.output).toBe(
    "23:59:59Z held until=23:59:59Z\n2026-10-31 00:00:01Z held until=2026-10-31 12:00:00Z",
  );
});

it("logs one JSON line per event in the format of the functions' logs", () => {
  const terminal = new CollectedTerminal();
  jsonLog(terminal, "prod").error("launch decided", fields);
  expect(JSON.parse(terminal.output)).toEqual({
    level: "ERROR",
    message: "launch decided",
    timestamp: expect.any(String),
    cluster: "prod",
    version,
    action: "extend",
    because: "a later launch",
    until: fields.until.toISOString(),
    nodes: 3,
    error: { name: "Error", message: "it failed: the wire was cut" },
  });
});
