import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option, type OptionValues } from "commander";
import { answersWithin } from "../../lambda/aws/clients.ts";
import { type Duration, seconds } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { matching, textAs } from "../../lambda/schemas/parse.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import { throughProxy } from "../../local/environment-proxy.ts";
import { readBy } from "./flags.ts";
import type { Terminal } from "./terminal.ts";
import { quoted } from "./text.ts";

/** Region, profile and endpoint, as in every AWS tool. */
export type AwsFlags = Readonly<{ region?: string; profile?: string; endpointUrl?: string }>;
/** Which deployed holder a command is about. */
export type ClusterFlags = AwsFlags & Readonly<{ cluster: string }>;
/** Which holder a command is about: a deployed one, or a `run` on this machine by its folder. */
export type HolderFlags = (ClusterFlags & Readonly<{ run?: undefined }>) | RunFlags;
/** Which `run` on this machine: by its folder, by its cluster, or the only one. */
export type RunFlags = Readonly<{ run: string | true; kubeconfig?: string; context?: string }>;

/** Names the cluster where the flag does not. */
const clusterVariable = "KARPENTER_NODE_HOLDER_CLUSTER";

/** Whether a command needs no name of a cluster with these flags. */
type NeedsNone = (flags: OptionValues) => boolean;

/** Adds the flags with which a command finds the holder deployed for a cluster. */
export const withCluster = (
  command: Command,
  terminal: Pick<Terminal, "env">,
  needsNone?: NeedsNone,
): Command => withAws(withClusterName(command, terminal, needsNone));

/** Adds the flag that names the cluster. */
export const withClusterName = (
  command: Command,
  { env }: Pick<Terminal, "env">,
  needsNone: NeedsNone = () => false,
): Command =>
  command
    .option("--cluster <name>", `the EKS cluster's name (required, or set ${clusterVariable})`, clusterName)
    .hook("preAction", (_, action) => {
      const flags = action.opts();
      if (flags.cluster !== undefined || needsNone(flags)) return;
      const named = env[clusterVariable];
      if (!named) action.error(`error: name the cluster: --cluster NAME, or set ${clusterVariable}`);
      else action.setOptionValueWithSource("cluster", readVariable(action, named), "env");
    });

/** Adds the flags with which a command finds a holder: deployed, or a `run` on this machine. */
export const withHolder = (command: Command, terminal: Pick<Terminal, "env">): Command =>
  withCluster(command, terminal, namesRun).addOption(
    new Option(
      "--run [folder]",
      "the holder without AWS on this machine, by the folder of its --data (default: the only one at work)",
    ).conflicts(["cluster", "region", "profile", "endpointUrl"]),
  );

const namesRun: NeedsNone = ({ run, kubeconfig, context }) =>
  [run, kubeconfig, context].some((one) => one !== undefined);

/** The same, and a `run` also by the cluster that it works on. */
export const withAnyHolder = (command: Command, terminal: Pick<Terminal, "env">): Command => {
  const deployed = ["cluster", "region", "profile", "endpointUrl"];
  const itself = command.hook("preAction", (_, action) => {
    const { kubeconfig, context } = action.opts();
    if (kubeconfig !== undefined || context !== undefined)
      action.setOptionValueWithSource("run", true, "implied");
  });
  return [
    new Option("--kubeconfig <path>", "the `run` on this machine that holds this kubeconfig's cluster"),
    new Option("--context <name>", "the same, by the kubeconfig's context"),
  ].reduce(
    (all, option) => all.addOption(option.conflicts([...deployed, "run"])),
    withHolder(itself, terminal),
  );
};

function readVariable(command: Command, text: string): string {
  try {
    return clusterName(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return command.error(`error: ${clusterVariable} cannot be used: ${error.message}`);
  }
}

/** Adds the flags that every AWS tool knows. */
export const withAws = (command: Command): Command =>
  [
    new Option("--region <region>", "region"),
    new Option("--profile <name>", "profile"),
    new Option("--endpoint-url <url>", "another endpoint").argParser(endpointUrl),
  ].reduce((all, option) => all.addOption(option.helpGroup("AWS (default: as in every AWS tool):")), command);

/** How an AWS client is made from the flags; the SDK itself reads environment, profiles and the rest. */
export function awsConfig(flags: AwsFlags, env: Terminal["env"]) {
  const { profile, endpointUrl } = flags;
  checkProfile(profile ?? env.AWS_PROFILE, env);
  // The SDK for JavaScript reads AWS_REGION only; users of the AWS CLI may have set the other one.
  const { AWS_REGION, AWS_DEFAULT_REGION } = profile ? { ...env, AWS_DEFAULT_REGION: undefined } : env;
  const places = { "--region": flags.region, AWS_REGION, AWS_DEFAULT_REGION };
  const [place, region] = Object.entries(places).find(([, value]) => value) ?? [];
  if (region && !/^[a-z]+(-[a-z]+)+-\d+$/.test(region))
    throw new BadInputError("These flags cannot be used", [
      `${place} must be a region like eu-central-1, not "${region}"`,
    ]);
  return {
    ...(region && { region }),
    ...(profile && { profile }),
    ...(endpointUrl && { endpoint: endpointUrl }),
    ...throughProxy(env, endpointUrl),
  };
}
export type AwsConfig = ReturnType<typeof awsConfig>;

/** The SDK would wait for ever for an address or a service that does not answer. */
export const withTimeLimits = (config: AwsConfig, time: Duration) => ({
  ...config,
  requestHandler: {
    ...config.requestHandler,
    connectionTimeout: seconds(5),
    ...answersWithin(time),
    throwOnRequestTimeout: true,
  },
});

/** A remedy whose commands, ours and those of the AWS CLI, meet the same account and region as this command. */
export function inSamePlace(remedy: string, { region, profile, endpointUrl }: AwsFlags): string {
  const flags = wordsOf({ region, profile, "endpoint-url": endpointUrl });
  return remedy.replaceAll(/\baws [a-z]+ [a-z-]+|--cluster [\w-]+/g, (command) => command + flags);
}

/** Text whose commands of kubectl meet the same cluster as this command. */
export function onSameCluster(text: string, flags: Pick<RunFlags, "kubeconfig" | "context">): string {
  const { kubeconfig, context } = flags;
  return text.replaceAll(/\bkubectl(?= )/g, (command) => command + wordsOf({ kubeconfig, context }));
}

const wordsOf = (flags: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(flags)
    .flatMap(([name, value]) => (value ? [` --${name} ${quoted(value)}`] : []))
    .join("");

const endpointUrl = readBy(
  textAs("an address like https://lambda.eu-west-1.amazonaws.com", (text) =>
    /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined,
  ),
);

const { pattern, expected } = holderSettings.cluster.value;
export const clusterName = readBy(matching(pattern, expected));

/** Refuses a profile that is in no file: the SDK would only say that it found no credentials. */
function checkProfile(profile: string | undefined, env: Terminal["env"]): void {
  // Of the default profile other places are read where no file names it.
  if (!profile || profile === "default") return;
  const inHome = (file: string) => join(homedir(), ".aws", file);
  const known = new Set([
    ...profilesIn(env.AWS_CONFIG_FILE || inHome("config"), /^\s*\[\s*(?:profile\s+)?"?([^\]"]+?)"?\s*\]/gm),
    ...profilesIn(env.AWS_SHARED_CREDENTIALS_FILE || inHome("credentials"), /^\s*\[\s*([^\]]+?)\s*\]/gm),
  ]);
  if (known.has(profile)) return;
  const names = [...known].filter((name) => !/^(sso-session|services)\s/.test(name)).sort();
  throw new BadInputError("These flags cannot be used", [
    `there is no AWS profile ${profile} (there are: ${names.join(", ") || "none"})`,
  ]);
}

function profilesIn(file: string, heading: RegExp): readonly string[] {
  try {
    return [...readFileSync(file, "utf8").matchAll(heading)].map(([, name = ""]) => name);
  } catch {
    return [];
  }
}
