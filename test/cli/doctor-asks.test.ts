import { describe, expect, it } from "vitest";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { json, jsonError } from "../support/fake-aws.ts";
import { accountWhere, awsWhere, bodies, requests } from "./account-where.ts";

it("waits for a function that hangs until the signal comes, and does not ask it again", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const { client } = await awsWhere(() => {
    resolve();
    return new Promise(() => {});
  });
  const ended = new AbortController();
  const answer = awsAccount(client, "prod", ended.signal).invoke("sweep", { do: "check" });
  await asked;
  ended.abort();
  await expect(answer).rejects.toThrow(/abort/i);
  expect(requests()).toHaveLength(1);
});

describe("doctor asks", () => {
  const answered = (name: string, result = "") => ({
    body: `<${name}Response><${name}Result>${result}</${name}Result></${name}Response>`,
  });
  const asked = () =>
    requests().map(({ method, path, body }) => `${method} ${path} ${decodeURIComponent(body)}`);

  it("AWS who calls", async () => {
    const account = await accountWhere(() => answered("GetCallerIdentity", "<Arn>arn:me</Arn>"));
    expect(await account.identity()).toBe("arn:me");
  });

  it("for a role by its name", async () => {
    const account = await accountWhere(() => answered("GetRole", "<Role></Role>"));
    expect(await account.trust("arn:aws:iam::1:role/path/schedules")).toBe("");
    expect(asked()).toEqual([expect.stringMatching(/RoleName=schedules(&|$)/)]);
  });

  it("for what a role may do with one resource, when it passes a role to Scheduler", async () => {
    const account = await accountWhere(() => answered("SimulatePrincipalPolicy"));
    expect(await account.refused("arn:role", ["a:B"], "arn:thing")).toEqual(["a:B"]);
    const [simulated] = asked();
    for (const part of [
      "SourceArn=arn:role&",
      "ActionNames.member.1=a:B&",
      "ResourceArns.member.1=arn:thing&",
    ])
      expect(`${simulated}&`).toContain(part);
    expect(simulated).toMatch(/ContextKeyName=iam:PassedToService&/);
    expect(simulated).toMatch(/ContextKeyValues.member.1=scheduler.amazonaws.com/);
  });

  it("for the schedules of a group alone", async () => {
    const account = await accountWhere(() => json({ Schedules: [] }));
    await account.schedules("group");
    expect(asked()).toEqual([expect.stringMatching(/^GET \/schedules\?.*ScheduleGroup=group/)]);
  });

  it("for the destination of a function's own invocations", async () => {
    const account = await accountWhere(() => json({}));
    await account.functionOf("release");
    const path = "/functions/karpenter-node-holder-prod-release/event-invoke-config?Qualifier=%24LATEST";
    expect(asked()).toContainEqual(expect.stringContaining(path));
  });

  it("for alarms by their names, and for the last action of each", async () => {
    const account = await accountWhere(() => json({}));
    await account.alarms(["a", "b"]);
    await account.unsent(["a"]);
    expect(bodies()).toEqual([
      { AlarmNames: ["a", "b"], MaxRecords: 100 },
      { AlarmName: "a", HistoryItemType: "Action", ScanBy: "TimestampDescending", MaxRecords: 1 },
    ]);
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
    const [, { path = "" } = {}] = requests();
    expect(path).toBe(`/clusters/prod/access-entries${kubernetesGroups ? "/arn%3Arole" : ""}`);
    expect(bodies()[1]).toMatchObject({ kubernetesGroups: written });
  });

  it("a mapping that is off, and removes an entry", async () => {
    const account = await accountWhere(() => json({}));
    await account.enableMapping("m");
    await account.deleteEntry("prod", "arn:role");
    expect(requests().map(({ method, path }) => `${method} ${path}`)).toEqual([
      expect.stringMatching(/^PUT .*\/event-source-mappings\/m$/),
      "DELETE /clusters/prod/access-entries/arn%3Arole",
    ]);
    expect(bodies()[0]).toEqual({ Enabled: true });
  });
});
