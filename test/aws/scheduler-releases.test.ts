import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterEach, describe, expect, it } from "vitest";
import { SchedulerReleases } from "../../lambda/aws/scheduler-releases.ts";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { poolScope, wholeCluster } from "../../lambda/core/scope.ts";
import { OneShots } from "../../simulator/one-shots.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { type AwsAnswer, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";

const roleArn = "arn:aws:iam::123456789012:role/schedules";
const releaseFunctionArn =
  "arn:aws:lambda:eu-west-1:123456789012:function:karpenter-node-holder-prod-release";
const holdId = "20261121t120000-k3f9a";
const created = json({ ScheduleArn: "arn:aws:scheduler:eu-west-1:123456789012:schedule/holds/x" });

let aws: FakeAws;
afterEach(() => aws.close());

async function schedules(answer: (count: number) => AwsAnswer = () => created) {
  aws = await fakeAws((_, count) => answer(count));
  const client = new SchedulerClient({ ...aws.client, maxAttempts: 1 });
  const clock = new VirtualClock();
  return new SchedulerReleases({ client, clock, group: "holds", roleArn, releaseFunctionArn });
}
const sent = () => aws.requests.map(({ path, body }) => ({ path, ...JSON.parse(body) }));
const expression = () => sent().at(-1)?.ScheduleExpression;

describe("a one-shot", () => {
  it("invokes release for its hold, once, and then deletes itself", async () => {
    const port = await schedules();
    expect(await port.arm(poolScope("batch"), holdId, after(noon, minutes(20)))).toBe("armed");
    const [request] = sent();
    expect(request).toMatchObject({
      path: `/schedules/${holdId}-1795263600`,
      GroupName: "holds",
      Description: `The next pass over nodepool/batch, for hold ${holdId}`,
      ScheduleExpression: "at(2026-11-21T12:20:00)",
      ScheduleExpressionTimezone: "UTC",
      FlexibleTimeWindow: { Mode: "OFF" },
      ActionAfterCompletion: "DELETE",
      Target: {
        Arn: releaseFunctionArn,
        RoleArn: roleArn,
        RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 20 },
      },
    });
    expect(JSON.parse(request.Target.Input)).toEqual({ scope: "nodepool/batch", holdId });
  });

  it("never fires before the hold is over: its time is rounded up", async () => {
    const port = await schedules();
    await port.arm(wholeCluster, holdId, new Date("2026-11-21T12:20:00.001Z"));
    expect(expression()).toBe("at(2026-11-21T12:20:01)");
    expect(sent()[0]).toMatchObject({ path: `/schedules/${holdId}-1795263601` });
  });

  it("has a name that is valid for Scheduler, whatever the time", async () => {
    const port = await schedules();
    await port.arm(wholeCluster, holdId, new Date("9999-12-31T00:00:00Z"));
    expect(sent()[0].path).toMatch(/^\/schedules\/[0-9a-zA-Z_.-]{1,64}$/);
  });

  it("whose time is past or less than a minute ahead is set a minute ahead, and keeps the name of its time", async () => {
    const port = await schedules();
    for (const ahead of [-minutes(3), 0, seconds(59)]) {
      await port.arm(wholeCluster, holdId, after(noon, ahead));
      expect(expression()).toBe("at(2026-11-21T12:01:00)");
      const simulated = new OneShots(new VirtualClock());
      await simulated.arm(wholeCluster, holdId, after(noon, ahead));
      expect([...simulated.armed.values()].map(({ at }) => at)).toEqual([after(noon, minutes(1))]);
    }
    expect(sent()[0]).toMatchObject({ path: `/schedules/${holdId}-1795262220` });
    await port.arm(wholeCluster, holdId, after(noon, seconds(61)));
    expect(expression()).toBe("at(2026-11-21T12:01:01)");
  });

  it("that exists already is not changed", async () => {
    const port = await schedules(() => jsonError("ConflictException", "Schedule already exists.", 409));
    expect(await port.arm(wholeCluster, holdId, after(noon, minutes(20)))).toBe("already armed");
    expect(await port.arm(wholeCluster, holdId, noon)).toBe("already armed");
  });
});

describe("errors", () => {
  it("are reported with the name of the group, and what to look for", async () => {
    const port = await schedules(() => jsonError("ResourceNotFoundException", "no", 404));
    const arming = port.arm(wholeCluster, holdId, after(noon, minutes(20)));
    await expect(arming).rejects.toThrow(BrokenSetupError);
    await expect(arming).rejects.toThrow(/group holds: no\. Check that/);
  });
});
