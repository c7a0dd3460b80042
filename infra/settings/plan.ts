import { Token } from "aws-cdk-lib";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IConstruct } from "constructs";
import { formatDuration } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import type { Settings } from "../../lambda/settings.ts";
import type { Values } from "../../lambda/settings-table.ts";
import type { HolderVpcIds } from "../network.ts";
import { documentLink } from "../package-root.ts";
import type { Access, KarpenterNodeHolderProps } from "../props.ts";
import { isDuration, isKnown, namesIn, objectProps, problemOfProp } from "./check-props.ts";
import type { deploymentSettings } from "./deployment.ts";
import { checkDeployment } from "./deployment.ts";
import type { Window } from "./windows.ts";

/** Everything the construct builds from: settings checked, defaults filled in. */
export type Plan = Readonly<{
  /** What the holder's resources are called after: text, also where the settings have a reference to the cluster. */
  name: string;
  settings: Settings;
  access: Access;
  vpc: HolderVpcIds | undefined;
  runbookUrl: string;
  logRetention: RetentionDays;
  reserveConcurrency: boolean;
  events: boolean;
  alarms: Values<typeof deploymentSettings>["alarms"];
  monitoring: Values<typeof deploymentSettings>["monitoring"];
  permissionsBoundaryArn: string;
  rolePath: string;
  kmsKeyArn: string;
  windows: readonly Window[];
}>;

/** Checks what a CDK app gave us; one error names every problem. */
export function planOf(holder: IConstruct, props: KarpenterNodeHolderProps): Omit<Plan, "vpc"> {
  const given = Object.entries(props).filter(([, value]) => value !== undefined && value !== null);
  const wrong = given.map(([name, value]) => problemOfProp(name, value));
  const texts = given
    .filter(([name], i) => !wrong[i] && !(name in objectProps))
    .map(([name, value]) => [name, isDuration(value) ? formatDuration(value.toMilliseconds()) : value])
    // A reference is no text that could be checked.
    .filter(([name, value]) => !(isReferable(name) && Token.isUnresolved(value)));
  const { cluster, name } = namesIn(props);
  const isWrong = given.some(([prop], i) => prop === "cluster" && wrong[i]);
  const isNameless = cluster !== undefined && !isWrong && name === undefined;
  const known = isKnown(cluster) ? cluster : cluster && "reference";
  const { settings, deployment, windows, problems } = checkDeployment({
    ...Object.fromEntries(texts),
    cluster: isWrong ? "wrong" : known,
  });
  const all = [
    ...wrong.filter((problem) => problem !== undefined),
    ...(isNameless ? [nameless] : []),
    ...problems,
    ...(props.alarmTopic && deployment.monitoring === "none" ? [noAlarms] : []),
  ];
  if (all.length > 0 || name === undefined) throw unusable(all, holder);
  return {
    name,
    settings: { ...settings, cluster: String(cluster) },
    access: deployment.access,
    runbookUrl: deployment.runbookUrl || documentLink("operating.md"),
    logRetention: Number(deployment.logRetentionDays),
    reserveConcurrency: deployment.reserveConcurrency === "true",
    events: deployment.events === "true",
    alarms: deployment.alarms,
    monitoring: deployment.monitoring,
    permissionsBoundaryArn: deployment.permissionsBoundaryArn || (props.permissionsBoundaryArn ?? ""),
    rolePath: deployment.rolePath,
    kmsKeyArn: deployment.kmsKeyArn || (props.kmsKeyArn ?? ""),
    windows,
  };
}

/** What only the template needs may be a reference to something of the same app. */
const isReferable = (name: unknown): boolean => name === "permissionsBoundaryArn" || name === "kmsKeyArn";

const noAlarms = "alarmTopic has no effect with monitoring=none";

const nameless =
  "name is missing: the cluster's name is not known at synth; give the cluster a name, or the holder one of its own";

/** One error that names all problems of a deployment's settings, and whose they are. */
export const unusable = (problems: readonly string[], construct?: IConstruct): BadInputError =>
  new BadInputError(
    `These settings ${construct ? `of ${construct.node.path} ` : ""}cannot be used`,
    problems,
  );
