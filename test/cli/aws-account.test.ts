import { afterEach, describe, expect, it } from "vitest";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { launchesAndProbes } from "../../infra/event-pattern.ts";
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

/** AWS's answer about a role with this trust. */
const roleWith = (trust: string) =>
  `<R><GetRoleResult><Role><AssumeRolePolicyDocument>${trust}</AssumeRolePolicyDocument></Role></GetRoleResult></R>`;

/** The account of cluster prod where AWS answers this. */
async function accountWhere(answer: (request: AwsRequest) => AwsAnswer) {
  aws = await fakeAws(answer);
  return awsAccount(aws.client, "prod");
}
const bodies = () => (aws?.requests ?? []).map(({ body }) => (body ? JSON.parse(body) : {}));

const aQueue = {
  ...{ url: "https://sqs/q", arn: "arn:q", waiting: 0, inFlight: 0, policy: undefined, deadLetterArn: "" },
};

describe("doctor reads", () => {
  it("of a function its name, when it was changed, whether it is turned off, and where failures go", async () => {
    const account = await accountWhere(({ path }) => {
      if (path.includes("/concurrency")) return json({ ReservedConcurrentExecutions: 0 });
      if (path.includes("/event-invoke-config"))
        return json({ DestinationConfig: { OnFailure: { Destination: "arn:failures" } } });
      return json({ LastModified: "2026-11-23T12:00:00.000+0000", Environment: { Variables: { A: "b" } } });
    });
    expect(await account.functionOf("hold")).toMatchObject({
      name: "karpenter-node-holder-prod-hold",
      changedAt: new Date("2026-11-23T12:00:00Z"),
      reservedConcurrency: 0,
      failuresArn: "arn:failures",
      env: { A: "b" },
    });
  });

  it("of a function for whose invocations nothing is set that failures go nowhere", async () => {
    const account = await accountWhere(({ path }) =>
      path.includes("/event-invoke-config") ? jsonError("ResourceNotFoundException", "none", 404) : json({}),
    );
    expect(await account.functionOf("hold")).toMatchObject({
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
      const [, name] = /\/schedules\/(\w+)/.exec(path) ?? [];
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
    const Schedules = Array.from({ length: 100 }, (_, n) => ({ Name: `s${n}` }));
    const pages: string[] = [];
    const account = await accountWhere(({ path }) => {
      if (/\/schedules\/s/.test(path)) return jsonError("ResourceNotFoundException", "gone", 404);
      pages.push(path);
      return json({ Schedules, NextToken: `page${pages.length}` });
    });
    expect(await account.schedules("group")).toEqual([]);
    expect(pages).toHaveLength(10);
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
});

describe("doctor fixes", () => {
  it("the queue's policy by one more statement, and keeps the others", async () => {
    const account = await accountWhere(() => json({}));
    const policy = { Statement: [{ Sid: "theirs" }] };
    await account.letRuleSend({ ...aQueue, arn: "arn:queue", policy }, "arn:rule");
    const [theirs, ours] = JSON.parse(bodies()[0].Attributes.Policy).Statement;
    expect(theirs).toEqual({ Sid: "theirs" });
    expect(ours).toMatchObject({
      Resource: "arn:queue",
      Condition: { ArnEquals: { "aws:SourceArn": "arn:rule" } },
    });
  });

  it("nothing by a function that failed, and reports why", async () => {
    const account = await accountWhere(() => ({
      headers: { "x-amz-function-error": "Unhandled" },
      body: JSON.stringify({ errorMessage: "no access" }),
    }));
    await expect(account.invoke("sweep", {})).rejects.toThrow("no access");
  });
});
