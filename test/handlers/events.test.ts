import { describe, expect, it } from "vitest";
import { BadInputError } from "../../lambda/core/errors.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const event = launchEvent("i-0abcd1234ef567890", noon);
const parse = (message: unknown) => parseMessage(JSON.stringify(message));

function problemsOf(message: unknown): readonly string[] {
  try {
    parse(message);
    return [];
  } catch (error) {
    if (error instanceof BadInputError) return error.problems;
    throw error;
  }
}

describe("a message", () => {
  it("of EC2 reports a launch", () => {
    expect(parse(event)).toEqual({
      kind: "launch",
      launch: { instance: "i-0abcd1234ef567890", launchedAt: noon },
    });
  });

  it("that is a follow-up asks for another look, also at an instance with a long name, as in `run` on Azure", () => {
    const launchedAt = noon.toISOString();
    const instance = `azure:///subscriptions/${"a".repeat(300)}`;
    const launches = { kind: "launches", attempt: 1, firstSeenAt: launchedAt };
    const ofScope = { kind: "scope", scope: "nodepool/batch", isLook: true };
    expect(parse({ followUp: ofScope })).toEqual({ kind: "followUp", followUp: ofScope });
    const { isLook: _, ...older } = ofScope;
    expect(parse({ followUp: older })).toMatchObject({ followUp: { ...older, isLook: false } });
    expect(parse({ followUp: { ...launches, launches: [{ instance, launchedAt }] } })).toEqual({
      kind: "followUp",
      followUp: { ...launches, firstSeenAt: noon, launches: [{ instance, launchedAt: noon }] },
    });
  });

  it("of an event or a window asks for a hold", () => {
    const about = { cause: "event", name: "Deployments", scope: "cluster", reason: "release (1)" };
    const hold = { ...about, for: "30m", at: noon.toISOString() };
    expect(parse({ hold })).toEqual({ kind: "hold", ...hold, for: 30 * 60_000, at: noon });
    expect(problemsOf({ hold: { ...hold, cause: "person", name: undefined, scope: "all" } })).toEqual([
      'hold.cause must be event or window, not "person"',
      "hold.name must be one line of 1 to 250 characters, but is missing",
      'hold.scope must be "cluster" or "nodepool/NAME", not "all"',
    ]);
  });

  it("of a probe names it", () => {
    const probe = {
      source: "karpenter-node-holder.probe",
      "detail-type": "Karpenter Node Holder Probe",
      detail: { id: "5f1c-a", cluster: "prod", sentAt: "2026-11-21T12:00:00.000Z" },
    };

    expect(parse(probe)).toEqual({ kind: "probe", id: "5f1c-a", sentAt: noon });
  });

  it.each([
    {},
    { detail: { id: "a b", sentAt: "2026-11-21T12:00:00Z" } },
    { detail: { id: "a", sentAt: "soon" } },
  ])("of a malformed probe is dropped: a retry and the alarm on dead letters would help nobody", (rest) => {
    expect(parse({ source: "karpenter-node-holder.probe", ...rest })).toEqual({ kind: "malformed probe" });
  });

  const aTime = "time must be a time like 2026-01-31T09:30:00Z";
  it.each<[string, unknown, string[]]>([
    ["no object", [1], ["the message must be an object, not a list"]],
    ["another source", { ...event, source: "aws.s3" }, ['source must be "aws.ec2", not "aws.s3"']],
    [
      "another state",
      { ...event, detail: { ...event.detail, state: "running" } },
      ['detail.state must be "pending", not "running"'],
    ],
    ["a time that is none", { ...event, time: "yesterday" }, [`${aTime}, not "yesterday"`]],
    ["a time beyond all years", { ...event, time: "+275760-09-13T00:00:00Z" }, [aTime]],
    ["a day that is none", { ...event, time: "2026-13-45T00:00:00Z" }, [aTime]],
    ["no detail", { ...event, detail: null }, ["detail must be an object, not null"]],
    [
      "an instance of no such name",
      { ...event, detail: { state: "pending", "instance-id": "i-xyz" } },
      ['detail.instance-id must be an instance id like i-0abcd1234ef567890, not "i-xyz"'],
    ],
    [
      "a follow-up of no kind",
      { followUp: { kind: "dance", attempt: 0 } },
      ['followUp.kind must be "launches" or "scope", not "dance"'],
    ],
    [
      "a follow-up for no scope",
      { followUp: { kind: "scope", scope: "nodepool/A b", isLook: false } },
      ['followUp.scope must be "cluster" or "nodepool/NAME"'],
    ],
    [
      "a list with a bad item",
      { followUp: { kind: "launches", attempt: -1, firstSeenAt: "soon", launches: [{ instance: "" }] } },
      [
        "followUp.attempt must be a whole number from 0 to 1000000, not -1",
        "followUp.launches[0].instance must be text",
        "followUp.launches[0].launchedAt must be a time",
        "followUp.firstSeenAt must be a time",
      ],
    ],
  ])("is refused with each bad field named: %s", (_, message, expected) => {
    const problems = problemsOf(message);

    for (const [n, problem] of expected.entries()) expect(problems[n]).toContain(problem);
  });

  it.each([
    [{ followUp: 1 }, "This follow-up cannot be used: followUp must be"],
    [{ hold: 1 }, "This request to hold cannot be used: hold must be"],
    [{}, "This event cannot be used: source must be"],
  ])("is refused as what it seems to be: %j", (message, problem) => {
    expect(() => parse(message)).toThrow(problem);
  });

  it("that is not JSON is refused with its beginning only", () => {
    const parseIt = () => parseMessage(`{"token": ${"x".repeat(1_000_000)}`);

    expect(parseIt).toThrow(/^This message cannot be used: the message must be JSON, not "\{.{0,100}…$/);
  });
});
