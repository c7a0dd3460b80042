import { Token } from "aws-cdk-lib";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import { formatDuration } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { documentLink } from "../../lambda/package-root.ts";
import { checkDeployment, type Settings } from "../../lambda/settings.ts";
import type { deploymentSettings, Values } from "../../lambda/settings-table.ts";
import type { Window } from "../../lambda/triggers.ts";
import type { HolderVpcIds } from "../network.ts";
import type { Access, KarpenterNodeHolderProps } from "../props.ts";
import { isDuration, objectProps, problemOfProp } from "./check-props.ts";

/** Everything the construct builds from: settings checked, defaults filled in. */
export type Plan = Readonly<{
  settings: Settings;
  access: Access;
  vpc: HolderVpcIds | undefined;
  runbookUrl: string;
  logRetention: RetentionDays;
  reserveConcurrency: boolean;
  events: boolean;
  alarms: Values<typeof deploymentSettings>["alarms"];
  windows: readonly Window[];
}>;

/** Checks what a CDK app gave us; one error names every problem. */
export function planOf(props: KarpenterNodeHolderProps): Omit<Plan, "vpc"> {
  if (Token.isUnresolved(props.cluster)) {
    throw unusable(["cluster must be text known at synth, not a token: give the name itself"]);
  }
  const given = Object.entries(props).filter(([, value]) => value !== undefined && value !== null);
  const wrong = given.map(([name, value]) => problemOfProp(name, value));
  const texts = given
    .filter(([name], i) => !wrong[i] && !(name in objectProps))
    .map(([name, value]) => [name, isDuration(value) ? formatDuration(value.toMilliseconds()) : value]);
  const { settings, deployment, windows, problems } = checkDeployment(Object.fromEntries(texts));
  const all = [...wrong.filter((problem) => problem !== undefined), ...problems];
  if (all.length > 0) throw unusable(all);
  return {
    settings,
    access: deployment.access,
    runbookUrl: deployment.runbookUrl || documentLink("operating.md"),
    logRetention: Number(deployment.logRetentionDays),
    reserveConcurrency: deployment.reserveConcurrency === "true",
    events: deployment.events === "true",
    alarms: deployment.alarms,
    windows,
  };
}

/** One error that names all problems of a deployment's settings. */
export const unusable = (problems: readonly string[]): BadInputError =>
  new BadInputError("These settings cannot be used", problems);
