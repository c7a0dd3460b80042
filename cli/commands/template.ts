import { Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../../lambda/core/duration.ts";
import type { SettingName } from "../../lambda/settings.ts";
import { withClusterName } from "../terminal/cluster-flags.ts";
import { withExamples } from "../terminal/examples.ts";
import { Failure } from "../terminal/failure.ts";
import { settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

type TemplateOptions = Readonly<{
  cluster: string;
  bucket: string;
  prefix: string;
  out: string;
  access: "install" | "manual";
  alarmTopicArn?: string;
  maxHold?: string;
}>;

const filledIn: readonly SettingName[] = [
  "hold",
  "relaunchCost",
  "maxHold",
  "breather",
  "initialDelay",
  "scope",
  "nodePools",
  "replacements",
  "extendOn",
  "karpenter",
  "holdAnnotation",
];
/** The construct computes resources from these. */
const ofConstruct = {
  sweepEvery: "--sweep-every",
  vpc: "--vpc",
  logRetentionDays: "--log-retention-days",
  runbookUrl: "--runbook-url",
  reserveConcurrency: "--reserve-concurrency",
} as const;

/** Writes one CloudFormation template and the functions' code, for those who deploy without the CDK. */
export const template = (terminal: Terminal): Command => {
  const command = withClusterName(new Command("template"), terminal)
    .description(
      "Write a CloudFormation template and the functions' code into a folder, to deploy the holder without the CDK. " +
        `Only the CDK can set: ${Object.keys(ofConstruct).join(", ")}.`,
    )
    .summary("Write a CloudFormation template, to deploy without the CDK.")
    .requiredOption(
      "--bucket <name>",
      "the S3 bucket, of the stack's region, from which Lambda reads the code",
      bucket,
    )
    .option("--prefix <prefix>", "where in the bucket", prefix, "karpenter-node-holder/")
    .option("--out <folder>", "where to write", "./karpenter-node-holder")
    .addOption(
      new Option("--access <access>", "whether the deployment gives itself its rights in the cluster")
        .choices(["install", "manual"])
        .default("install"),
    )
    .option("--alarm-topic-arn <arn>", "an SNS topic that receives every alarm", topic)
    .action((options: TemplateOptions) => write(options, terminal));
  for (const flag of Object.values(ofConstruct)) command.addOption(new Option(`${flag} [value]`).hideHelp());
  return withExamples(withSettings(command, filledIn), [
    ["template --cluster prod --bucket my-bucket", "one template with defaults"],
    ["template --cluster prod --bucket my-bucket --hold 30m --max-hold 4h", "with other settings"],
  ]);
};

async function write(options: TemplateOptions, { out }: Terminal): Promise<void> {
  const { cluster, bucket, prefix, access, alarmTopicArn, maxHold } = options;
  const refused: string[] = Object.entries(ofConstruct).flatMap(([name, flag]) =>
    name in options ? [flag] : [],
  );
  if (maxHold && parseDuration(maxHold) === 0) refused.push(`--max-hold ${maxHold}`);
  if (refused.length > 0) {
    throw new Failure(
      `${refused.join(", ")} cannot be set in a ready-made template`,
      "Deploy with the CDK instead: its construct KarpenterNodeHolder sets this. See docs/deploying.md.",
    );
  }
  const settings = settingsFrom(options, { cluster });
  const { writeTemplate } = await import("../template/write-template.ts");
  writeTemplate({
    settings,
    access,
    bucket,
    prefix,
    folder: options.out,
    ...(alarmTopicArn && { alarmTopicArn }),
  });
  const { stackName } = await import("../../lambda/names.ts");
  out(`Written to ${options.out}. Next, with a profile and region of the cluster's account:

  aws s3 cp --recursive ${options.out} s3://${bucket}/${prefix}
  aws cloudformation deploy --stack-name ${stackName(cluster)} --template-file ${options.out}/template.json \\
    --s3-bucket ${bucket} --capabilities CAPABILITY_IAM
  npx karpenter-node-holder doctor --cluster ${cluster}`);
}

const matching =
  (pattern: RegExp, expected: string) =>
  (text: string): string => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(`It must be ${expected}.`);
  };
const bucket = matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "the name of an S3 bucket");
const prefix = matching(/^([\w.-]+\/)*$/, "empty, or end in a slash, like tools/karpenter-node-holder/");
const topic = matching(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/, "the ARN of an SNS topic");
