import { Duration } from "aws-cdk-lib";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import type { KarpenterNodeHolder } from "../../infra/index.ts";
import { parseControlRequest } from "../../lambda/handlers/requests.ts";
import { resourcesOf, synthesizeWith } from "./synthesized.ts";

const deployments = (holder: KarpenterNodeHolder, length = Duration.minutes(30)) =>
  holder.holdOn("Deployments", {
    eventPattern: { source: ["aws.codedeploy"] },
    for: length,
    scope: "nodepool/batch",
  });

describe("what starts a hold beside launches", () => {
  let template: Template;

  beforeAll(() => {
    template = synthesizeWith((holder) => {
      deployments(holder);
      holder.holdDuring("OfficeHours", {
        schedule: "cron(0 8 ? * MON-FRI *)",
        timeZone: "Europe/Berlin",
        for: Duration.minutes(90),
      });
    });
  }, 120_000);

  it("asks control for a hold from the event's own time on, with its id as the reason", () => {
    const rules = [...resourcesOf(template, "AWS::Events::Rule").values()];
    const rule = rules.find(({ Properties }) => JSON.stringify(Properties).includes("codedeploy"));
    const targets = rule?.Properties.Targets as readonly Record<string, Record<string, unknown>>[];
    const { InputTransformer, DeadLetterConfig } = targets[0] ?? {};
    const { InputPathsMap, InputTemplate } = InputTransformer ?? {};
    expect(InputPathsMap).toEqual({ id: "$.id", time: "$.time" });
    expect(DeadLetterConfig).toBeDefined();
    const sent = String(InputTemplate)
      .replace("<id>", "event-1")
      .replace(/"?<time>"?/, '"2026-01-31T09:30:00Z"');
    expect(parseControlRequest(JSON.parse(sent))).toMatchObject({
      do: "hold",
      for: 30 * 60_000,
      reason: "Deployments (event-1)",
      cause: "event",
      at: new Date("2026-01-31T09:30:00Z"),
      scope: "nodepool/batch",
    });
  });

  it("asks in a window's time zone, in a role that may do no more than that", () => {
    template.hasResourceProperties("AWS::Scheduler::Schedule", {
      ScheduleExpression: "cron(0 8 ? * MON-FRI *)",
      ScheduleExpressionTimezone: "Europe/Berlin",
      Target: {
        DeadLetterConfig: Match.anyValue(),
        Input: Match.stringLikeRegexp("aws.scheduler.scheduled-time"),
      },
    });
    const [schedule] = [...resourcesOf(template, "AWS::Scheduler::Schedule").values()];
    const target = schedule?.Properties.Target as Record<string, unknown>;
    const sent = String(target.Input).replace("<aws.scheduler.scheduled-time>", "2026-01-31T09:30:00Z");
    expect(parseControlRequest(JSON.parse(sent))).toMatchObject({ cause: "window", for: 90 * 60_000 });
  });

  it("is refused where it cannot be used", () => {
    expect(() => synthesizeWith((holder) => deployments(holder, Duration.days(2)))).toThrow(
      "Deployments: for must be a Duration from 1m to 24h",
    );
  }, 120_000);
});
