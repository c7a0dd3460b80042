import { Command, Option } from "commander";
import { documentLink } from "../../infra/package-root.ts";
import { settingsTable } from "../../infra/settings/deployment.ts";
import { parseDuration } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { matching } from "../../lambda/schemas/parse.ts";
import type { Setting } from "../../lambda/settings-table.ts";
import { withClusterName } from "../terminal/cluster-flags.ts";
import { readBy, withExamples } from "../terminal/flags.ts";
import { flagOf, settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { quoted } from "../terminal/text.ts";

type TemplateOptions = Readonly<{
  cluster: string;
  bucket: string;
  prefix: string;
  out: string;
  maxHold?: string;
}>;

const { cluster: _, ...others } = settingsTable;
const settings = Object.entries<Setting>(others);
/** Without a cap there is one alarm less, so the CDK alone can leave it out. */
const filledIn = Object.fromEntries(
  settings
    .filter(([, { constructOnly }]) => !constructOnly)
    .map(([name, one]) => [name, { ...one, help: one.help.replace(", `0s` for no cap", "") }]),
);
const ofConstruct = settings.filter(([, { constructOnly }]) => constructOnly).map(([name]) => name);

const unusable = "These settings cannot be used";
const topicArn = settingsTable.alarmTopicArn.value.example;

/** Writes one CloudFormation template and the functions' code, for those who deploy without the CDK. */
export const template = (terminal: Terminal): Command => {
  const command = withClusterName(new Command("template"), terminal)
    .description(
      "Write a CloudFormation template and the functions' code into a folder, to deploy the holder without the CDK. " +
        `Only the CDK can set: ${ofConstruct.join(", ")}.`,
    )
    .summary("Write a CloudFormation template, to deploy without the CDK.")
    .requiredOption(
      "--bucket <name>",
      "the S3 bucket, of the stack's region, from which Lambda reads the code",
      bucket,
    )
    .option("--prefix <prefix>", "where in the bucket", prefix, "karpenter-node-holder/")
    .option("--out <folder>", "where to write", "./karpenter-node-holder")
    .action((options: TemplateOptions) => write(options, terminal));
  for (const name of ofConstruct) command.addOption(new Option(`${flagOf(name)} [value]`).hideHelp());
  return withExamples(withSettings(command, filledIn), [
    ["template --cluster prod --bucket my-bucket --alarms none", "one template with defaults"],
    [
      `template --cluster prod --bucket my-bucket --alarm-topic-arn ${topicArn} --hold 30m`,
      "with other settings",
    ],
  ]);
};

async function write(options: TemplateOptions, { out }: Terminal): Promise<void> {
  const { cluster, bucket, prefix, maxHold } = options;
  const refused = ofConstruct.filter((name) => name in options).map(flagOf);
  if (maxHold && parseDuration(maxHold) === 0) refused.push(`--max-hold ${maxHold}`);
  if (refused.length > 0)
    throw new BadInputError(unusable, [
      `${refused.join(", ")} cannot be set in a ready-made template: deploy with the CDK instead, whose construct ` +
        `KarpenterNodeHolder sets this (${documentLink("deploying.md")})`,
    ]);
  const { settings, deployment, windows } = cappedSettings(options);
  const { alarmTopicArn, alarms, monitoring } = deployment;
  if (!alarmTopicArn && alarms === "notify" && monitoring !== "none") throw silentAlarms;
  const { writeTemplate } = await import("../template/write-template.ts");
  writeTemplate({ settings, windows, ...deployment, bucket, prefix, folder: options.out });
  const { stackName } = await import("../../infra/names.ts");
  const folder = quoted(options.out);
  out(`Written to ${options.out}. Next, with a profile and region of the cluster's account:

  aws s3 cp --recursive ${folder} s3://${bucket}/${prefix}
  aws cloudformation deploy --stack-name ${stackName(cluster)} --template-file ${quoted(`${options.out}/template.json`)} \\
    --s3-bucket ${bucket} --capabilities CAPABILITY_IAM
  npx karpenter-node-holder doctor --cluster ${cluster}`);
}

/** Here 0s was refused already: a problem must not offer it. */
function cappedSettings(options: TemplateOptions) {
  try {
    return settingsFrom(options);
  } catch (error) {
    if (!(error instanceof BadInputError)) throw error;
    const problems = error.problems.map((one) => one.replace(/, or 0s( for no cap)?/, ""));
    throw new BadInputError(unusable, problems);
  }
}

const silentAlarms = new BadInputError(unusable, [
  `the alarms notify no one: add --alarm-topic-arn ${topicArn}, or --alarms none to accept that ` +
    `(in Terraform alarm_topic_arn = "${topicArn}", or alarms = "none")`,
]);

const bucket = readBy(matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "the name of an S3 bucket"));
const prefix = readBy(
  matching(/^([\w.-]+\/)*$/, "empty, or end in a slash, like tools/karpenter-node-holder/"),
);
