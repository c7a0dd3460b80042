import { type App, type Environment, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { HolderStack } from "./holder-stack.ts";
import { stackName } from "./names.ts";
import { type ContextSettings, readContext } from "./settings/context.ts";

type Filled = Readonly<{ stack: HolderStack; props: ContextSettings["props"] }>;

/** Adds the stack that the app's context asks for, and the security checks of its template. */
export function fillApp(app: App, env: Environment): Filled {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const settings = readContext(app.node.getAllContext());
  const stack = new HolderStack(app, stackName(settings.props.cluster), settings, {
    env,
    description: `karpenter-node-holder for ${settings.props.cluster}`,
  });
  return { stack, props: settings.props };
}
