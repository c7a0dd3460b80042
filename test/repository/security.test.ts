import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import { actions, allowed, resourcesOf, synthesize } from "../infra/synthesized.ts";

const page = readFileSync("docs/security.md", "utf8");
const template = synthesize();

/** The rows of the table under a heading, without its head. */
const rowsUnder = (heading: string): readonly (readonly string[])[] =>
  (page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, ...cells]) => cells);
const actionsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([a-z0-9]+:[A-Z]\w+)`/g)].map(([, action = ""]) => action);

describe("what the security page says of permissions in AWS", () => {
  const rows = rowsUnder("In AWS");
  const roles: Readonly<Record<string, string>> = {
    hold: "HoldRole",
    release: "ReleaseRole",
    sweep: "SweepRole",
    control: "ControlRole",
    "cluster-access": "AdminFunctionRole",
    "the provider": "AdminProviderRole",
    "the schedules' role": "ReleasesRole",
  };

  it.each(Object.entries(roles))("is all that %s may do, and no more", (who, role) => {
    const reported = rows.filter(([, , that = ""]) => that.split(", ").includes(who));
    const named = new Set(reported.flatMap(([permission = ""]) => actionsIn(permission)));
    expect([...named].sort()).toEqual(actions(allowed(template, role)));
  });

  it("speaks of every role there is, and of no other", () => {
    expect(new Set(rows.flatMap(([, , who = ""]) => who.split(", ")))).toEqual(new Set(Object.keys(roles)));
    expect(resourcesOf(template, "AWS::IAM::Role").size).toBe(Object.keys(roles).length);
  });
});

describe("the documented pattern for CloudTrail's events", () => {
  const pattern: unknown = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");
  const reported = (eventName: string, requestParameters: object) =>
    matches(pattern, {
      source: "aws.lambda",
      "detail-type": "AWS API Call via CloudTrail",
      detail: { eventSource: "lambda.amazonaws.com", eventName, requestParameters },
    });
  const fn = "karpenter-node-holder-prod-cluster-access";
  const changes = [
    "UpdateFunctionCode20150331v2",
    "UpdateFunctionConfiguration20150331v2",
    "DeleteFunction20150331",
    "CreateFunction20150331",
  ];

  it.each(changes)("reports %s of the function, by each of its names", (change) => {
    const account = "111122223333:function:";
    for (const name of [fn, `${account}${fn}`, `arn:aws:lambda:eu-west-1:${account}${fn}`])
      for (const functionName of [name, `${name}:$LATEST`])
        expect(reported(change, { functionName })).toBe(true);
  });

  it("does not report other functions, and calls that change nothing", () => {
    for (const change of changes)
      expect(reported(change, { functionName: "karpenter-node-holder-prod-hold" })).toBe(false);
    expect(reported("GetFunction20150331v2", { functionName: fn })).toBe(false);
  });

  /** As EventBridge matches: one of a field's alternatives, in every field of the pattern. */
  function matches(wanted: unknown, found: unknown): boolean {
    if (Array.isArray(wanted)) return wanted.some((one) => isAlternative(one, String(found)));
    return Object.entries(Object(wanted)).every(([field, of]) => matches(of, Object(found)[field]));
  }
  function isAlternative(wanted: unknown, found: string): boolean {
    if (typeof wanted === "string") return found === wanted;
    const { prefix, wildcard, ...others } = Object(wanted);
    expect(others).toEqual({});
    return wildcard === undefined ? found.startsWith(prefix) : matchesGlob(found, wildcard);
  }
});

describe("what the security page says that commands need", () => {
  const services: Readonly<Record<string, string>> = { eventbridge: "events", "cloudwatch-logs": "logs" };
  const clients = /\{([^{}]+)\} (?:from |= await import\()"@aws-sdk\/client-([\w-]+)"/gs;
  /** Calls by a command, and by a method of a client that has all of its service's. */
  const inCode = (text: string): readonly string[] =>
    [...text.matchAll(clients)].flatMap(([, names = "", client = ""]) => {
      const commands = [...names.matchAll(/(?:paginate(\w+)|\b(\w+)Command)\b/g)];
      const made = [...text.matchAll(/const (\w+) = new (\w+)\(/g)].filter(([, , one = ""]) =>
        names.split(/\W+/).includes(one),
      );
      const methods = made.flatMap(([, name = ""]) => [
        ...text.matchAll(new RegExp(`\\b${name}\\.(?:paginate)?(\\w)(\\w+)\\(`, "g")),
      ]);
      return [
        ...commands.map(([, paged, sent]) => paged ?? sent),
        ...methods
          .map(([, first = "", rest]) => `${first.toUpperCase()}${rest}`)
          .filter((one) => one !== "Send"),
      ].map((action) => `${services[client] ?? client}:${action}`);
    });

  const reported = rowsUnder("For those who operate it").flatMap((cells) => actionsIn(cells.join(" ")));

  it("is every call that the command line makes, and no other", () => {
    const files = [...globSync("cli/**/*.ts"), "lambda/aws/usable-cluster.ts"];
    const called = files.flatMap((file) => inCode(readFileSync(file, "utf8")));
    const asIam = called.map((action) => (action === "lambda:Invoke" ? "lambda:InvokeFunction" : action));
    expect([...new Set(reported)].sort()).toEqual([...new Set(asIam)].sort());
  });

  it("is every call that smoke makes, with what the page on deployments adds", () => {
    const deploying = readFileSync("docs/deploying.md", "utf8");
    const smoke = deploying.split("\n## Trying it on a real account\n")[1]?.split("\n## ")[0] ?? "";
    const called = globSync("lab/smoke/*.ts").flatMap((file) => inCode(readFileSync(file, "utf8")));
    const added = new Set(called.filter((action) => !reported.includes(action)));
    expect(actionsIn(smoke).toSorted()).toEqual([...added].sort());
  });
});

it("the security page names for each actor of its threat model the tests that show a row, or says that none does", () => {
  const rows = rowsUnder("Threat model");
  expect(rows.length).toBeGreaterThan(10);
  for (const [actor, , , shownBy = ""] of rows)
    expect(shownBy, actor).toMatch(/^(argued|(\[[\w ]+\]\(\.\.\/test\/\S+\.ts\)(, )?)+[\w ]*)$/);
});
