import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parts } from "../../lambda/names.ts";
import { terraformSettings } from "../../scripts/terraform-settings.ts";

const read = (file: string) => readFileSync(`terraform/${file}`, "utf8");

it("has every setting of the template as a variable, and no other", async () => {
  await expect(terraformSettings()).toMatchFileSnapshot("../../terraform/settings.tf");
});

it("uploads every function", () => {
  const [, functions = "", installer = ""] =
    /functions = \[(.+)\]\n {2}installer = \[(.+)\]/.exec(read("main.tf")) ?? [];
  expect(JSON.parse(`[${functions}, ${installer}]`)).toEqual([...parts, "provider"]);
});
