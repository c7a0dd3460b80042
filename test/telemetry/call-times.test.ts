import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { CallTimes } from "../../lambda/telemetry/call-times.ts";
import { VirtualClock } from "../../simulator/virtual-clock.ts";
import { within } from "../support/context.ts";

const open = () => {
  const clock = new VirtualClock();
  const calls = new CallTimes(clock);
  const lasting = (millis: number) => async () => clock.pass(millis);
  return { clock, calls, lasting };
};

describe("the times of an invocation's calls", () => {
  it("are reported by kind: their number, the first start and the last end", async () => {
    const { clock, calls, lasting } = open();
    calls.begin();
    clock.pass(10);
    await calls.time("PATCH", lasting(20));
    await calls.time("GET", lasting(5));
    await calls.time("PATCH", lasting(1));

    expect(calls.reported().calls).toEqual({
      PATCH: { count: 2, from: 10, to: 36 },
      GET: { count: 1, from: 30, to: 35 },
    });
  });

  it("count calls that fail, and pass the failure on", async () => {
    const { calls } = open();
    const failing = async () => {
      throw new Error("refused");
    };

    await expect(calls.time("GET", failing)).rejects.toThrow("refused");
    expect(calls.reported().calls).toEqual({ GET: { count: 1, from: 0, to: 0 } });
  });

  it("are those of one invocation; what began before it and ends in it began early", async () => {
    const { clock, calls, lasting } = open();
    await calls.time("old", lasting(1));
    let end = () => {};
    const early = calls.time("early", () => new Promise<void>((resolve) => (end = resolve)));
    clock.pass(30);
    calls.begin();
    const began = clock.now();
    clock.pass(5);
    end();
    await early;

    expect(calls.reported()).toEqual({ began, calls: { early: { count: 1, from: -30, to: 5 } } });
  });

  it("name an AWS client's commands, with all their tries, and a cluster's methods", async () => {
    const { calls } = open();
    const credentials = { accessKeyId: "a", secretAccessKey: "b" };
    const client = calls.ofAws(new DynamoDBClient({ region: "us-east-1", credentials, maxAttempts: 2 }));
    client.middlewareStack.add(() => async () => Promise.reject(new Error("no network here")), {
      step: "finalizeRequest",
      priority: "high",
    });
    const Key = { kind: { S: "record" } };
    const sent = client.send(new GetItemCommand({ TableName: "table", Key }));
    await expect(sent).rejects.toThrow("no network here");
    await calls
      .ofKubernetes({ call: async () => "answer" })
      .call({ method: "PATCH", path: "/" }, within(0))
      .then((answer) => expect(answer).toBe("answer"));

    expect(Object.keys(calls.reported().calls)).toEqual(["GetItem", "Kubernetes PATCH"]);
  });
});
