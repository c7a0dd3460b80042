import { Scheduler } from "@aws-sdk/client-scheduler";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { launchesAndProbes } from "../../infra/event-pattern.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import {
  type AwsAnswer,
  type AwsRequest,
  type FakeAws,
  fakeAws,
  json,
  jsonError,
} from "../support/fake-aws.ts";

let aws: FakeAws | undefined;
afterEach(() => aws?.close());

const aQueue = { url: "https://sqs/q", arn: "arn:queue" };

/** AWS's answer about a role with this trust. */
const roleWith = (trust: string) =>
  `<R><GetRoleResult><Role><AssumeRolePolicyDocument>${trust}</AssumeRolePolicyDocument></Role></GetRoleResult></R>`;

/** The account of cluster prod where AWS answers this. */
async function accountWhere(answer: (request: AwsRequest) => AwsAnswer) {
  aws = await fakeAws(answer);
  return awsAccount(aws.client, "prod");
}
const bodies = () => (aws?.requests ?? []).map(({ body }) => (body ? JSON.parse(body) : {}));

describe("doctor reads", () => {
  it("of a function when it was changed, also one for whose invocations nothing is set", async () => {
    const account = await accountWhere(({ path }) =>
      path.includes("/event-invoke-config")
        ? jsonError("ResourceNotFoundException", "none", 404)
        : json({ LastModified: "2026-11-23T12:00:00.000+0000" }),
    );
    expect(await account.functionOf("hold")).toMatchObject({
      changedAt: new Date("2026-11-23T12:00:00Z"),
      failuresArn: "",
      reservedConcurrency: undefined,
    });
  });

  it("the key of this cluster's probes, and sends it with a probe", async () => {
    const about = { cluster: "prod", account: "123456789012", region: "eu-west-1", probeKey: "k" };
    const account = await accountWhere(() => json({}));
    await account.putProbe("doctor-1", new Date(0), launchesAndProbes(about));
    const [entry] = bodies().at(-1).Entries;
    expect(JSON.parse(entry.Detail)).toEqual({
      id: "doctor-1",
      cluster: "prod",
      key: "k",
      sentAt: "1970-01-01T00:00:00.000Z",
    });
  });

  it("every schedule of a group, on whatever page it is, but those that have fired meanwhile", async () => {
    const account = await accountWhere(({ path }) => {
      if (path.includes("/schedules/gone")) return jsonError("ResourceNotFoundException", "gone", 404);
      const [, name] = /\/schedules\/(\w+)\?groupName=group$/.exec(path) ?? [];
      const Target = { Arn: "arn:release", Input: "{}" };
      const State = name === "second" ? "DISABLED" : "ENABLED";
      if (name === "bare") return json({ Name: name });
      if (name) return json({ Name: name, State, ScheduleExpression: "at(now)", Target });
      return path.includes("NextToken")
        ? json({ Schedules: [{ Name: "second" }, { Name: "gone" }, { Name: "bare" }] })
        : json({ Schedules: [{ Name: "first" }], NextToken: "more" });
    });
    const about = { expression: "at(now)", targetArn: "arn:release", input: "{}" };
    expect(await account.schedules("group")).toEqual([
      { name: "first", isEnabled: true, ...about },
      { name: "second", isEnabled: false, ...about },
      { name: "bare", isEnabled: true, expression: "", targetArn: "", input: "" },
    ]);
  });

  it("no page of schedules again", async () => {
    const account = await accountWhere(({ path }) =>
      path.includes("/schedules/s")
        ? json({ Name: "s" })
        : json({ Schedules: [{ Name: "s" }], NextToken: "same" }),
    );
    expect(await account.schedules("group")).toHaveLength(2);
  });

  it("a thousand schedules of a group, and no further page", async () => {
    const read = vi.spyOn(Scheduler.prototype, "getSchedule").mockImplementation(async () => ({}));
    onTestFinished(() => read.mockRestore());
    const Schedules = Array.from({ length: 100 }, (_, n) => ({ Name: `s${n}` }));
    const account = await accountWhere(() => json({ Schedules, NextToken: `page${aws?.requests.length}` }));
    expect(await account.schedules("group")).toHaveLength(1_000);
    expect(aws?.requests).toHaveLength(10);
  });

  it("what a role is refused: whatever IAM does not call allowed", async () => {
    const decided = (action: string, decision: string) =>
      `<member><EvalActionName>${action}</EvalActionName><EvalDecision>${decision}</EvalDecision></member>`;
    const results =
      ["a:B", "g:H"].map((one) => decided(one, "allowed")).join("") + decided("c:D", "explicitDeny");
    const name = "SimulatePrincipalPolicy";
    const body = `<${name}Response><${name}Result><EvaluationResults>${results}</EvaluationResults></${name}Result></${name}Response>`;
    const account = await accountWhere(() => ({ body }));
    expect(await account.refused("arn:role", ["a:B", "c:D", "e:F", "g:H"], "arn:thing")).toEqual([
      "c:D",
      "e:F",
    ]);
  });

  it("the services that a role trusts", async () => {
    const trust = { Statement: [{ Principal: { Service: "scheduler.amazonaws.com" } }] };
    const body = roleWith(encodeURIComponent(JSON.stringify(trust)));
    const account = await accountWhere(() => ({ body }));
    expect(await account.trust("arn:aws:iam::1:role/schedules")).toContain("scheduler.amazonaws.com");
  });

  it("nothing of a role that is gone", async () => {
    const body =
      "<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>gone</Message></Error></ErrorResponse>";
    const account = await accountWhere(() => ({ status: 404, body }));
    expect(await account.trust("arn:aws:iam::1:role/schedules")).toBeUndefined();
  });
});

describe("doctor fixes", () => {
  it.each([
    ["one more group of the entry, and keeps its user's", ["theirs"], ["theirs", holderName]],
    ["a missing entry by one with our group alone", undefined, [holderName]],
  ])("%s", async (_, kubernetesGroups, written) => {
    const account = await accountWhere((asked) =>
      asked.method === "GET" && !kubernetesGroups
        ? jsonError("ResourceNotFoundException", "none", 404)
        : json({ accessEntry: { kubernetesGroups } }),
    );
    await account.admit("prod", "arn:role");
    const [, { path = "" } = {}] = aws?.requests ?? [];
    expect(path).toBe(`/clusters/prod/access-entries${kubernetesGroups ? "/arn%3Arole" : ""}`);
    expect(bodies()[1]).toMatchObject({ kubernetesGroups: written });
  });

  it("the queue's policy by one more statement, and keeps what is in it by now", async () => {
    const policy = { Version: "2008-10-17", Id: "theirs", Statement: { Sid: "theirs" } };
    const account = await accountWhere(() => json({ Attributes: { Policy: JSON.stringify(policy) } }));
    await account.letRuleSend(aQueue, "arn:rule");
    const { Statement, ...rest } = JSON.parse(bodies()[1].Attributes.Policy);
    const [theirs, ours] = Statement;
    expect({ ...rest, Statement: theirs }).toEqual(policy);
    expect(ours).toMatchObject({
      Resource: "arn:queue",
      Condition: { ArnEquals: { "aws:SourceArn": "arn:rule" } },
    });
  });
});
