import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { fillIn } from "../../../cli/template/fill-in.ts";
import { parts } from "../../../infra/names.ts";
import { checkDeployment, settingsTable } from "../../../infra/settings/deployment.ts";
import type { Setting } from "../../../lambda/settings-table.ts";
import { buildStaleFunctions } from "../../../scripts/bundles.ts";
import { synthesizeStack, synthesizeTemplate } from "../../../scripts/templates.ts";
import { terraformTemplates } from "../../../scripts/terraform.ts";
import { comparable } from "../../support/comparable-template.ts";
import { newFolder } from "../../support/new-folder.ts";
import { otherCosts, otherValues } from "../../support/other-values.ts";
import { buildPython } from "../engines/build.ts";
import { buildChecker } from "../engines/build-once.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const app = join(root, "infra/app.ts");

// CDK adds a function's role to DependsOn although the function refers to it anyway.
const redundantDependency = "W3005";

const everything = {
  cluster: "long_Name-".repeat(10),
  hold: "20m",
  maxHold: "0s",
  holdDuring: "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h; rate(1 day) 30m",
  vpc: "subnet-0123456789abcdef0,sg-0123456789abcdef0",
  alarmTopicArn: "arn:aws:sns:us-east-1:111122223333:ops",
  permissionsBoundaryArn: settingsTable.permissionsBoundaryArn.value.example,
  rolePath: settingsTable.rolePath.value.example,
  kmsKeyArn: settingsTable.kmsKeyArn.value.example,
};

it.each([
  ["with only a cluster", { cluster: "prod" }],
  ["with every option", everything],
  ["with manual access", { cluster: "prod", access: "manual" }],
])("neither the CDK's validation nor cfn-lint finds anything in the template %s", async (_, context) => {
  const lint = join(await buildPython("cfn-lint"), "cfn-lint");
  await buildStaleFunctions();
  const out = mkdtempSync(join(tmpdir(), "template-"));
  try {
    const env = { ...process.env, CDK_OUTDIR: out, CDK_CONTEXT_JSON: JSON.stringify(context) };
    const { stdout, stderr } = await run(process.execPath, [app], { env });

    expect(stdout + stderr).toBe("");

    const found = run(lint, [
      "--ignore-checks",
      redundantDependency,
      "--regions",
      "ALL_REGIONS",
      "--",
      join(out, "*.template.json"),
    ]);

    await expect(found.then(({ stdout }) => stdout)).resolves.toBe("");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

describe("the Terraform module", () => {
  const module = newFolder();
  beforeAll(() => {
    cpSync(join(root, "terraform"), module, { recursive: true });
    const beside = join(module, "package");
    mkdirSync(beside, { recursive: true });
    for (const [name, text] of Object.entries(terraformTemplates())) writeFileSync(join(beside, name), text);
    for (const part of [...parts, "provider"]) writeFileSync(join(beside, `${part}.zip`), part);
  });

  const evaluate = async (variables: object) => {
    const given = { prefix: "p/", bucket: "assets", ...variables };
    const names = ["template", "problems", "code"];
    const words = ["evaluate", module, JSON.stringify(given), ...names];
    return JSON.parse((await run(await buildChecker("hcl"), words, { maxBuffer: 2 ** 24 })).stdout);
  };
  const inSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  /** The same settings as variables. */
  const variablesOf = (context: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(context).map(([name, text]) => {
        const { value }: Setting = settingsTable[name as keyof typeof settingsTable];
        return [inSnakeCase(name), value.kind === "list" ? text.split(value.separator ?? ",") : text];
      }),
    );
  const codeOf = (part: string) => {
    const hash = createHash("sha256").update(part).digest("hex").slice(0, 16);
    return { S3Bucket: "assets", S3Key: `p/${part}-${hash}.zip` };
  };
  const filledIn = (context: Readonly<Record<string, string>>) => {
    const { settings, deployment, windows, problems } = checkDeployment(context);
    expect(problems).toEqual([]);
    const text = JSON.stringify(synthesizeTemplate(deployment.access).template);
    return fillIn(text, { settings, windows, ...deployment, codeOf });
  };

  const fillable = Object.entries<Setting>(settingsTable).filter(([, { constructOnly }]) => !constructOnly);
  const others: Readonly<Record<string, string>> = otherValues(Object.fromEntries(fillable));
  const { access: _, ...installed } = others;
  it.each<Readonly<Record<string, string>>>([
    { cluster: "prod", alarms: "none" },
    { ...others, cluster: "an-other" },
    { ...installed, cluster: "long_Name-".repeat(10) },
    { cluster: "c".repeat(37), alarms: "none", ...otherCosts(settingsTable) },
    {
      ...{ cluster: "prod", alarms: "none", monitoring: "alarms", rolePath: "/a/b/" },
      // What is filled in may contain the example of another setting.
      permissionsBoundaryArn: `arn:aws:iam::111122223333:policy${settingsTable.rolePath.value.example}base`,
    },
    {
      ...{
        cluster: "prod",
        monitoring: "none",
        permissionsBoundaryArn: "arn:aws:iam::aws:policy/PowerUserAccess",
      },
      kmsKeyArn: "arn:aws:kms:eu-west-1:444455556666:key/mrk-1",
    },
    { cluster: "prod", alarms: "none", karpenter: "v0.31", initialDelay: "30s", maxHold: "1h" },
    { cluster: "prod", alarms: "none", karpenter: "v0.31", maxHold: "10m" },
    {
      cluster: "prod",
      alarms: "none",
      holdDuring: "cron(0 8 ? * MON-FRI *) Europe/Berlin 7d; rate(1 day) 1m; rate(7 days) 1m",
    },
    {
      ...{ cluster: "prod", alarms: "none", scope: "nodepool", nodePools: "batch,web,!system" },
      holdDuring: "rate(1 day) 2h nodepool/batch;rate(1 day) 1h30m nodepool/web",
    },
  ])("fills in what the command template does: %j", async (context) => {
    const { template, problems } = await evaluate(variablesOf(context));
    expect(problems).toEqual([]);
    const { Parameters, ...others } = JSON.parse(template);
    expect(others).toEqual(filledIn(context));
    expect(Object.keys(Parameters)).toEqual(["Template"]);
  });

  it("puts the functions into a VPC as the construct does", async () => {
    const context = { cluster: "prod", alarms: "none", events: "true", rolePath: "/a/" } as const;
    const vpc = { subnet_ids: ["subnet-0123456789abcdef0"], security_group_ids: ["sg-0123456789abcdef0"] };
    const { template, problems } = await evaluate({
      ...variablesOf(context),
      vpc: { ...vpc, cluster_security_group_ids: [] },
    });
    expect(problems).toEqual([]);
    const constructed = { ...context, vpc: [...vpc.subnet_ids, ...vpc.security_group_ids].join() };
    const { Parameters: _, ...others } = JSON.parse(template);
    expect(comparable(others)).toEqual(comparable(synthesizeStack(constructed).template));
  });

  const ofPool = (variables: object) => ({
    ...{ alarms: "none", scope: "nodepool", hold_during: ["rate(1 day) 2h nodepool/batch"] },
    ...variables,
  });
  it.each([
    [{}, /alarms notify no one/],
    [{ monitoring: "some", alarms: "none" }, /^monitoring must be full or alarms or none$/],
    [
      { monitoring: "none", alarm_topic_arn: "arn:aws:sns:us-east-1:111122223333:ops" },
      /^alarm_topic_arn has no effect with monitoring = "none"$/,
    ],
    [
      { alarms: "none", permissions_boundary_arn: "boundary" },
      /^permissions_boundary_arn must be the ARN of an IAM policy/,
    ],
    [{ alarms: "none", role_path: "platform" }, /^role_path must be a path that begins and ends in a slash/],
    [{ alarms: "none", kms_key_arn: "alias/mine" }, /^kms_key_arn must be the ARN of a KMS key/],
    [{ alarms: "all" }, /^alarms must be notify or none$/],
    [{ alarms: "none", hold: "30y" }, /^hold must be auto, or a duration from 1m to 24h/],
    [{ alarms: "none", hold: "30s" }, /^hold must be/],
    [{ alarms: "none", max_hold: "0s" }, /needs the CDK/],
    [{ alarms: "none", hold: "3h" }, /^max_hold must be at least hold$/],
    [{ alarms: "none", hold: "5m", initial_delay: "5m" }, /^initial_delay must be shorter than hold$/],
    [{ alarms: "none", hold: "5m", relaunch_cost: "5m" }, /hold = "auto" only$/],
    [{ alarms: "none", node_pools: ["a", "B"] }, /^node_pools must be NodePool names/],
    [{ alarms: "none", hold_during: ["at noon"] }, /^hold_during must be windows/],
    [{ alarms: "none", scope: "nodepool", hold_during: ["rate(1 day) 2h"] }, /a window names what it holds/],
    [{ alarms: "none", hold_during: ["rate(1 day) 30s"] }, /^hold_during: a window lasts 1m to 168h/],
    [{ alarms: "none", hold_during: ["rate(1 day) 2h", "rate(7 days) 169h"] }, /a window lasts 1m to 168h/],
    [{ alarms: "none", hold_during: ["rate(1 day) 2x"] }, /^hold_during: a window lasts 1m to 168h/],
    [{ alarms: "none", hold_during: ["rate(1 day) 2h", "rate(1 day) UTC 3h"] }, /two windows have the same/],
    [ofPool({ node_pools: ["!web", "!batch"] }), /^hold_during: node_pools leaves out batch$/],
    [ofPool({ node_pools: ["web", " !system"] }), /^hold_during: node_pools leaves out batch$/],
    [{ alarms: "none", node_pools: ["x", " !x", "y"] }, /^node_pools names x and leaves it out$/],
    [{ alarms: "none", cluster: "" }, /^cluster must be/],
    [{ alarms: "none", hold_annotation: "keep" }, /^hold_annotation must be/],
    [{ alarms: "none", cluster: "a/b" }, /^cluster must be/],
    [{ alarms: "none", vpc: { subnet_ids: [], security_group_ids: ["sg-1"] } }, /^vpc needs/],
  ])("says at plan what cannot be used: %j", async (variables, problem) => {
    const { problems } = await evaluate({ cluster: "prod", ...variables });
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });
});

it("Terraform can parse its module, and would not format it differently", async () => {
  const files = globSync("terraform/*.tf", { cwd: root });
  expect(files.length).toBeGreaterThan(3);
  expect((await run(await buildChecker("hcl"), files, { cwd: root })).stdout).toBe("");
});
