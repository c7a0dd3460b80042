import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { everyResource, resourcesOf, synthesize, synthesizeEverything } from "./synthesized.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/deploying.md"), "utf8");
const needs = page.split("\n## What a deployment needs\n")[1]?.split("\n## ")[0] ?? "";
const template = synthesize();
const counted = (type: string) => resourcesOf(template, type).size;

it("names every kind of resource that a deployment creates, and no other", () => {
  const created = [template, synthesizeEverything()].flatMap(everyResource).map(({ Type }) => Type);
  const named = [...needs.matchAll(/`((?:AWS|Custom)::[\w:]+)`/g)].map(([, type]) => type);
  expect(named.toSorted()).toEqual([...new Set(created)].sort());
});

it("counts what it adds to the account's quotas", () => {
  expect([counted("AWS::Lambda::Function"), counted("AWS::IAM::Role")]).toEqual([6, 7]);
  expect([counted("AWS::Events::Rule"), counted("AWS::CloudWatch::Alarm")]).toEqual([2, 14]);
  expect(needs).toContain(
    "six functions, seven roles, two rules on the default event bus (quota 300), 14 alarms",
  );
});

it("names the right to read the functions' code, wherever it lies", () => {
  const plain = page.split("\n## CloudFormation and Terraform")[1]?.split("\n## ")[0];
  for (const part of [needs, plain]) expect(part).toContain("`s3:GetObject`");
});
