import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { detailOf } from "../../lambda/core/events.ts";
import { aPastHold, someRules } from "../support/builders.ts";
import { everyResource, resourcesOf, synthesize, synthesizeEverything } from "./synthesized.ts";

const read = (name: string) => readFileSync(`docs/${name}.md`, "utf8");
const sectionOf = (page: string, heading: string) =>
  page.split(`\n## ${heading}`)[1]?.split("\n## ")[0] ?? "";

describe("the page on deployments", () => {
  const page = read("deploying");
  const needs = sectionOf(page, "What a deployment needs\n");
  const template = synthesize();
  const counted = (type: string) => resourcesOf(template, type).size;

  it("names every kind of resource that a deployment creates, and no other", () => {
    const created = [template, synthesizeEverything()].flatMap(everyResource).map(({ Type }) => Type);
    const named = [...needs.matchAll(/`((?:AWS|Custom)::[\w:]+)`/g)].map(([, type]) => type);
    expect(named.toSorted()).toEqual([...new Set(created)].sort());
  });

  it("counts what it adds to the account's quotas", () => {
    const added = {
      functions: counted("AWS::Lambda::Function"),
      roles: counted("AWS::IAM::Role"),
      rules: counted("AWS::Events::Rule"),
      alarms: counted("AWS::CloudWatch::Alarm"),
    };
    expect(added).toEqual({ functions: 6, roles: 7, rules: 2, alarms: 14 });
    expect(needs).toContain(
      "six functions, seven roles, two rules on the default event bus (quota 300), 14 alarms",
    );
  });

  it("names the right to read the functions' code, wherever it lies", () => {
    for (const part of [needs, sectionOf(page, "CloudFormation and Terraform")])
      expect(part).toContain("`s3:GetObject`");
  });
});

describe("the page on operating", () => {
  const page = sectionOf(read("operating"), "Events\n");
  const example = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");

  it("the documented event is what is sent for such a hold", () => {
    const { detail } = example;
    const {
      version: _,
      cluster: _c,
      mode: _m,
      until: _u,
      holdId: id,
      startedAt,
      endedAt,
      ...others
    } = detail;
    const past = aPastHold({ ...others, id, startedAt: new Date(startedAt), endedAt: new Date(endedAt) });
    const sent = detailOf({ type: "Hold Ended", scope: detail.scope, holdId: id, past }, someRules());
    expect(JSON.parse(JSON.stringify(sent))).toEqual(detail);
  });

  it("the table has every field of it, and no other", () => {
    const [, table = ""] = page.split("| In `detail` |");
    const named = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    // What holds observes nothing.
    expect(named.toSorted()).toEqual([...Object.keys(example.detail), "observed"].toSorted());
  });
});
