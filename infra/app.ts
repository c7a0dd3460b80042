import { App } from "aws-cdk-lib";
import { BadInputError } from "../lambda/core/errors.ts";
import { fillApp } from "./fill-app.ts";

try {
  const app = new App();
  fillApp(app);
  app.synth();
} catch (error) {
  if (!(error instanceof BadInputError)) throw error;
  console.error(["These settings cannot be used:", ...error.problems.map((one) => `  - ${one}`)].join("\n"));
  process.exitCode = 1;
}
