import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Stack } from "aws-cdk-lib";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";
import type { Asset as Part } from "../../../cli/template/fill-in.ts";
import { bundleOf } from "../../../infra/functions/bundles.ts";
import { stackName } from "../../../infra/names.ts";
import { keptCluster } from "../../../scripts/keep-template.ts";
import { synthesizeStack } from "../../../scripts/templates.ts";
import { readKeptTemplates } from "../../infra/kept-templates.ts";

/** The template of the version before, with the functions' present code: the old code is not kept. */
const app = new App();
const stack = new Stack(app, stackName(keptCluster));
const folder = mkdtempSync(join(tmpdir(), "kept-"));
try {
  const { template } = readKeptTemplates().at(-1) ?? {};
  if (!template) throw new Error("no template is kept");
  const [templateFile, provider] = [join(folder, "template.json"), join(folder, "provider.zip")];
  writeFileSync(templateFile, JSON.stringify(template));
  writeFileSync(provider, synthesizeStack({ cluster: keptCluster }).provider ?? "");
  const included = new CfnInclude(stack, "Kept", { templateFile });
  for (const [id, { Properties }] of Object.entries(template.Resources)) {
    const fn = included.getResource(id);
    if (!(fn instanceof CfnFunction)) continue;
    const part = Properties.Code as Part;
    const path = part === "provider" ? provider : bundleOf(part);
    const { s3BucketName: s3Bucket, s3ObjectKey: s3Key } = new Asset(stack, `Code-${part}`, { path });
    fn.code = { s3Bucket, s3Key };
  }
  app.synth();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
