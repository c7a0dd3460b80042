import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parts } from "../../infra/names.ts";
import { settingsTable } from "../../infra/settings/deployment.ts";
import { terraformTemplates } from "../../scripts/terraform.ts";
import { terraformSettings } from "../../scripts/terraform-settings.ts";

const templates = Object.entries(terraformTemplates());
const read = (file: string) => readFileSync(`terraform/${file}`, "utf8");

it("has every setting of the template as a variable, and no other", async () => {
  await expect(terraformSettings()).toMatchFileSnapshot("../../terraform/settings.tf");
  expect(terraformSettings()).not.toMatch(/separated by|0s for no cap/);
});

it("leaves no mark of its build, and no example, in the templates that it fills in", () => {
  const examples = (["permissionsBoundaryArn", "rolePath", "kmsKeyArn"] as const).map(
    (name) => settingsTable[name].value.example,
  );
  expect(templates).toHaveLength(4);
  for (const [name, text] of templates)
    for (const mark of ["%%", "@@", "##", "AnyCluster", ...examples]) expect(text, name).not.toContain(mark);
});

it("uploads every function", () => {
  const [, functions = "", installer = ""] =
    /functions = \[(.+)\]\n {2}installer = \[(.+)\]/.exec(read("main.tf")) ?? [];
  expect(JSON.parse(`[${functions}, ${installer}]`)).toEqual([...parts, "provider"]);
});

it("repeats an update that failed: the stack knows the hash of its template", () => {
  expect(read("main.tf")).toContain("parameters = { Template = sha256(local.template) }");
  for (const [name, text] of templates)
    expect(text, name).toContain('"Parameters":{"Template":{"Type":"String"');
});
