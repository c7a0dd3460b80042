import { Duration } from "aws-cdk-lib";
import { afterAll, expect, it, vi } from "vitest";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

/** Everything that shows settings, loaded with a table that has one more; nothing else knows of it. */
const table = await import("../../lambda/settings-table.ts");
const value = { kind: "duration", least: 0, most: hours(1) };
const coolDown = { value, default: "20m", help: "how long it waits" };
vi.resetModules();
vi.doMock("../../lambda/settings-table.ts", () => ({
  ...table,
  holderSettings: { ...table.holderSettings, coolDown },
}));
const { readConfig } = await import("../../lambda/environment.ts");
const { readSettings } = await import("../../lambda/settings.ts");
const { readContext } = await import("../../infra/settings/context.ts");
const { resourcesOf, synthesize } = await import("../infra/synthesized.ts");
const { commandLine } = await import("../../cli/command-line.ts");
const { statusView } = await import("../../cli/views/status-view.ts");
const { terraformSettings } = await import("../../scripts/terraform-settings.ts");
const { chartFiles } = await import("../../scripts/chart.ts");
const { settingsTable } = await import("../../infra/settings/deployment.ts");
const { settingsOfConstruct, settingsOnPage } = await import("../support/documented-settings.ts");
afterAll(() => {
  vi.doUnmock("../../lambda/settings-table.ts");
  vi.resetModules();
});

const run = async (...words: string[]) => {
  const terminal = new CollectedTerminal();
  await commandLine(words, terminal);
  return terminal.output + terminal.reported;
};

/** The settings that a function reads from the environment which it is deployed with. */
function deployedWith(props: object) {
  const variables = [...resourcesOf(synthesize(props), "AWS::Lambda::Function").values()]
    .map(({ Properties }) => Object(Properties.Environment).Variables)
    .find((found) => found?.HOLD_TABLE);
  const texts = Object.entries(Object(variables)).map(([name, value]) => [name, String(value)]);
  return readConfig({ ...Object.fromEntries(texts), AWS_REGION: "eu-west-1" }).settings;
}

it("a setting that the table alone has arrives in the functions, by the construct's props and by -c", () => {
  const { props } = readContext({ cluster: "prod", coolDown: "5m" });
  expect(deployedWith(props)).toMatchObject({ coolDown: minutes(5) });
  expect(deployedWith({ coolDown: Duration.minutes(6) })).toMatchObject({ coolDown: minutes(6) });
  expect(deployedWith({})).toMatchObject({ coolDown: minutes(20) });
});

it("is checked there, and its misspelled name is noticed", () => {
  expect(() => deployedWith({ coolDown: Duration.hours(2) })).toThrow("coolDown must be a duration");
  expect(() => readContext({ cluster: "prod", coolDown: "2h" })).toThrow("coolDown must be a duration");
  expect(() => readContext({ cluster: "prod", coolDonw: "5m" })).toThrow("did you mean coolDown?");
});

it("is a flag of run and template", async () => {
  const help = (await run("run", "--help")).replaceAll(/\s+/g, " ");
  expect(help).toContain("--cool-down <duration> how long it waits (to 1h) (default: 20m)");
  const flags = ["--cluster", "prod", "--cool-down", "2h"];
  expect(await run("template", "--bucket", "assets", ...flags)).toContain("--cool-down must be a duration");
});

it("is shown by status, a variable of the Terraform module and a value of the chart", () => {
  const rules = readSettings(Object({ cluster: "prod", coolDown: "5m" }));
  const status = Object({ rules, scopes: [], limits: [], at: new Date(0), version: "1" });
  const view = statusView(status, { style: (_, text) => text, wide: true, toHold: "deploy" });
  expect(view.join("\n")).toContain("coolDown=5m");
  expect(terraformSettings()).toMatch(/ cool_down += \{ least = 0, most = 3600, /);
  const { "values.schema.json": schema = "", "values.yaml": values } = chartFiles();
  expect(JSON.parse(schema)).toHaveProperty("properties.settings.properties.coolDown.default", "20m");
  expect(values).toContain("  # how long it waits (to 1h)\n  # coolDown: 20m\n");
});

it("is missed in the documents and among the construct's props", () => {
  for (const { found, expected } of [
    settingsOnPage("README.md", settingsTable),
    settingsOfConstruct(settingsTable),
  ]) {
    expect(expected.filter((one) => !found.includes(one))).toContainEqual(
      expect.stringContaining("coolDown"),
    );
  }
});
