import { type Duration, Token } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { formatDuration } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { checkSettings, type RawSettings, type Settings } from "../../lambda/settings.ts";
import { type HolderVpcIds, hasIds } from "../network.ts";
import type { Access, KarpenterNodeHolderProps } from "../props.ts";
import { isDuration, problemsOf } from "./check-props.ts";

/** Everything the construct builds from: settings checked, defaults filled in. */
export type Plan = Readonly<{
  settings: Settings;
  access: Access;
  vpc: HolderVpcIds | undefined;
  runbookUrl: string;
  logRetention: RetentionDays;
  reserveConcurrency: boolean;
}>;

/** Checks what a CDK app gave us; one error names every problem. */
export function planOf(props: KarpenterNodeHolderProps): Omit<Plan, "vpc"> {
  if (Token.isUnresolved(props.cluster)) {
    throw unusable(["cluster must be text known at synth, not a token: give the name itself"]);
  }
  const wrong = problemsOf(props);
  const { settings, problems } = checkSettings(asText(props));
  const { vpc } = props;
  const noVpc =
    vpc &&
    !wrong.has("vpc") &&
    hasIds(vpc) &&
    (vpc.subnetIds.length === 0 || vpc.securityGroupIds.length === 0);
  const all = [
    ...wrong.values(),
    ...problems,
    ...(noVpc ? ["vpc must name at least one subnet and one security group"] : []),
  ];
  if (all.length > 0) throw unusable(all);
  return {
    settings,
    access: props.access ?? "install",
    runbookUrl: props.runbookUrl ?? "docs/operating.md",
    logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
    reserveConcurrency: props.reserveConcurrency ?? false,
  };
}

/** One error that names all problems of a deployment's settings. */
export const unusable = (problems: readonly string[]): BadInputError =>
  new BadInputError("These settings cannot be used", problems);

function asText(props: KarpenterNodeHolderProps): RawSettings {
  // A prop of another type is its own problem; the rest is checked against the default.
  const text = (duration: Duration | undefined) =>
    isDuration(duration) ? formatDuration(duration.toMilliseconds()) : undefined;
  return {
    ...props,
    hold: props.hold === "auto" ? "auto" : text(props.hold),
    relaunchCost: text(props.relaunchCost),
    maxHold: text(props.maxHold),
    breather: text(props.breather),
    initialDelay: text(props.initialDelay),
    sweepEvery: text(props.sweepEvery),
  };
}
