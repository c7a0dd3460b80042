import { App } from "aws-cdk-lib";
import { BadInputError } from "../lambda/core/errors.ts";
import { fillApp } from "./fill-app.ts";

try {
  const app = new App();
  // Where to deploy comes from the CDK command line: its profile's account and region.
  const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;
  const env = { ...(account && { account }), ...(region && { region }) };
  const { stack, props } = fillApp(app, env);
  // Without credentials the CDK command line names no account, and nothing is asked.
  if (account) {
    const { refuseUnusableCluster } = await import("./check-cluster.ts");
    await refuseUnusableCluster(stack, props, { ...env, variables: process.env });
  }
  app.synth();
} catch (error) {
  if (!(error instanceof BadInputError)) throw error;
  console.error(`error: ${error.message}`);
  console.error("Nothing was deployed. Correct these settings, and run the same command again.");
  process.exitCode = 1;
}
