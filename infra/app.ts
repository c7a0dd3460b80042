import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { BadInputError } from "../lambda/core/errors.ts";
import { stackName } from "../lambda/names.ts";
import { HolderStack } from "./holder-stack.ts";
import { readContext } from "./settings/context.ts";

// Where to deploy comes from the CDK command line: its profile's account and region.
try {
  const app = new App();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const settings = readContext(app.node.getAllContext());
  const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
  const env = { ...(account && { account }), ...(region && { region }) };
  new HolderStack(app, stackName(settings.props.cluster), settings, {
    env,
    description: `karpenter-node-holder for ${settings.props.cluster}`,
  });
  app.synth();
} catch (error) {
  if (!(error instanceof BadInputError)) throw error;
  console.error(["These settings cannot be used:", ...error.problems.map((one) => `  - ${one}`)].join("\n"));
  process.exitCode = 1;
}
