import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { App } from "aws-cdk-lib";
import { anyCluster, type Resource, type TemplateKind, templateKinds } from "../cli/template/fill-in.ts";
import { HolderStack } from "../infra/holder-stack.ts";
import { functionName, parts } from "../infra/names.ts";
import { readContext } from "../infra/settings/context.ts";
import { settingsTable } from "../infra/settings/deployment.ts";
import { zipFolder } from "./zip-folder.ts";

/** Writes the templates that `karpenter-node-holder template` fills in; returns the package whose code is beside them. */
export function buildTemplates(folder: string): readonly string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const kind of templateKinds) {
    const { template, provider } = synthesizeTemplate(kind);
    writeFileSync(join(folder, `${kind}.json.gz`), gzipSync(JSON.stringify(template), { level: 9 }));
    if (provider) writeFileSync(join(folder, "provider.zip"), provider);
  }
  return ["node_modules/aws-cdk-lib"];
}

/** Its resources are copied for each window of the settings. */
const holdDuring = settingsTable.holdDuring.value.example;

/** The construct's template for any cluster. */
export function synthesizeTemplate(access: TemplateKind) {
  return synthesizeStack({
    cluster: anyCluster,
    holdDuring,
    // Left out again where the settings ask for none.
    events: "true",
    permissionsBoundaryArn: settingsTable.permissionsBoundaryArn.value.example,
    rolePath: settingsTable.rolePath.value.example,
    kmsKeyArn: settingsTable.kmsKeyArn.value.example,
    // The command asks for a topic.
    alarms: "none",
    access,
  });
}

/** Each function's code is replaced by its name; CDK's provider comes as an archive. */
export function synthesizeStack(context: Readonly<Record<string, string | undefined>>) {
  const outdir = mkdtempSync(join(tmpdir(), "templates-"));
  try {
    const settings = readContext(context);
    const app = new App({
      outdir,
      analyticsReporting: false,
      // The same as in cdk.json.
      context: { "@aws-cdk/core:enablePartitionLiterals": true },
    });
    const description = `karpenter-node-holder for ${settings.props.cluster}`;
    const stack = new HolderStack(app, "Stack", settings, { description });
    const assembly = app.synth();
    // These only check that the CDK has prepared the account.
    const { Parameters, Rules, ...template } = assembly.getStackByName(stack.stackName).template;
    const names = new Map(parts.map((part) => [functionName(settings.props.cluster, part), part]));
    let provider: Buffer | undefined;
    for (const { Type, Properties } of Object.values<Resource>(template.Resources)) {
      if (Type !== "AWS::Lambda::Function") continue;
      const part = names.get(String(Properties.FunctionName));
      if (!part) provider = archiveOf(join(outdir, `asset.${hashOf(Properties.Code)}`));
      Properties.Code = part ?? "provider";
    }
    return { template, provider };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** The asset's hash is the name of its object. */
const hashOf = (code: Resource["Properties"]["Code"]): string =>
  typeof code === "object" ? code.S3Key.replace(/\.zip$/, "") : "";

function archiveOf(folder: string): Buffer {
  const archive = `${folder}.zip`;
  zipFolder(folder, archive);
  return readFileSync(archive);
}
