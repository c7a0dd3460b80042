import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parts } from "../../lambda/names.ts";
import { terraformSettings } from "../../scripts/terraform-settings.ts";

const read = (file: string) => readFileSync(`terraform/${file}`, "utf8");

it("has every setting of the template as a variable and a flag, and no other", async () => {
  await expect(terraformSettings()).toMatchFileSnapshot("../../terraform/settings.tf");
});

it("uploads every function, and runs the command line of its own version", () => {
  const [, functions = "", installer = ""] =
    /functions = \[(.+)\]\n {2}installer = \[(.+)\]/.exec(read("main.tf")) ?? [];
  expect(JSON.parse(`[${functions}, ${installer}]`)).toEqual([...parts, "provider"]);
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(read("variables.tf")).toContain(`"karpenter-node-holder@${version}"`);
});
