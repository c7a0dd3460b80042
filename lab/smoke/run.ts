import { createInterface } from "node:readline/promises";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { deployedHolder } from "../../cli/control/control.ts";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { awsConfig, type ClusterFlags, withCluster } from "../../cli/terminal/cluster-flags.ts";
import { durationOption } from "../../cli/terminal/flags.ts";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { accountChecks } from "./account.ts";
import { cdkFor } from "./cdk.ts";
import { ClusterView, type Scaling } from "./cluster-view.ts";
import { holderChecks, marksCheck } from "./holder.ts";
import { leftoversCheck } from "./leftovers.ts";
import { type Check, Cleanup, labels, type Row, rowOf, type Smoke, tableOf } from "./smoke.ts";

type Options = ClusterFlags &
  Readonly<{ yes?: true; kubeconfig?: string; scale?: Scaling; wait: Duration; context: readonly string[] }>;

/** How long each part usually takes. */
const usual = {
  "the account": seconds(10),
  "the holder at work": minutes(8),
  "destroying the holder": minutes(3),
} as const;
const all = Object.values(usual).reduce((sum, one) => sum + one, 0);
let progress: Progress | undefined;

function report(line: string): void {
  if (progress) progress.print(line);
  else process.stderr.write(`${line}\n`);
}

const command = withCluster(new Command("npm run smoke --"), process)
  .description(
    "Deploy a holder on a real account for the cluster, watch one launch being held and released, destroy it, and " +
      "look for what stayed. Takes about a quarter of an hour.",
  )
  .option("--yes", "do not ask before creating anything")
  .option("--kubeconfig <path>", "your own kubeconfig: also look for marks and rights in the cluster")
  .option(
    "--scale <namespace/deployment=replicas>",
    "scale this up for the launch, and back afterwards",
    scaling,
  )
  .addOption(
    durationOption(
      "--wait <duration>",
      "how long to wait for a launch",
      [seconds(30), hours(2)],
      minutes(15),
    ),
  )
  .option(
    "-c, --context <setting=value>",
    "a setting of the deployment, like vpc=…; may be repeated",
    gather,
    [],
  )
  .exitOverride()
  .showHelpAfterError("See --help for all options.")
  .action(smoke);

async function smoke(options: Options): Promise<void> {
  if (options.scale && !options.kubeconfig) command.error("error: --scale needs --kubeconfig");
  const cleanup = new Cleanup();
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      report(`${signal}: ending, and removing what was created`);
      stopping.abort(new Error("stopped"));
    });
  const run = await identify(options, cleanup, stopping.signal);
  explain(run, options);
  if (!options.yes && !(await agreed())) throw new Error("nothing was created");

  const rows: Row[] = [];
  progress = new Progress(all, processTerminal());
  try {
    await check(run, options, rows);
  } finally {
    const left = await cleanup.run(report);
    progress.stop();
    for (const one of left)
      rows.push({
        assumption: "what it created is removed",
        expected: "removed",
        seen: one,
        verdict: "broken",
      });
    process.stdout.write(`\n${tableOf(rows).join("\n")}\n`);
  }
  const broken = rows.filter(({ verdict }) => verdict === "broken");
  if (broken.length > 0) throw new Error(`${broken.length} of ${rows.length} assumptions do not hold`);
}

async function check(run: Smoke, options: Options, rows: Row[]): Promise<void> {
  const inVpc = options.context.some((one) => one.startsWith("vpc="));
  /** Checks in this order, up to the first that is broken. */
  const inOrder = async (part: keyof typeof usual, checks: readonly Check[]): Promise<boolean> => {
    const task = progress?.beginTimed(part, usual[part]);
    for (const one of checks) {
      run.signal.throwIfAborted();
      const row = await rowOf(one);
      rows.push(row);
      report(`${labels[row.verdict]}: ${row.assumption}: ${row.seen}`);
      if (row.verdict === "broken") break;
    }
    task?.end();
    return rows.at(-1)?.verdict !== "broken";
  };
  report("checking the account; nothing is created yet");
  if (!(await inOrder("the account", accountChecks(run, inVpc)))) return;

  const view = options.kubeconfig ? new ClusterView(options.kubeconfig) : undefined;
  const cdk = cdkFor(run, ["hold=2m", ...options.context]);
  let isThere = true;
  const destroy = async () => {
    if (isThere) await cdk(["destroy", "--force"]);
    isThere = false;
  };
  run.cleanup.add(`the holder of ${run.cluster}`, destroy);
  const account = awsAccount(run.aws, run.cluster);
  const { ask } = deployedHolder(options, process.env);
  const { scale: scaling, wait: waitForLaunch } = options;
  const steps = holderChecks(run, { cdk, account, ask, view, scaling, waitForLaunch });
  await inOrder("the holder at work", steps);
  report("destroying the holder");
  const destroyed: Check = {
    assumption: "the stack is destroyed",
    expected: "complete",
    look: async () => {
      await destroy();
      return { seen: "complete", verdict: "holds" };
    },
  };
  const ended = [destroyed, leftoversCheck(run), ...(view ? [marksCheck(view)] : [])];
  await inOrder("destroying the holder", ended);
}

async function identify(options: Options, cleanup: Cleanup, signal: AbortSignal): Promise<Smoke> {
  const aws = awsConfig(options, process.env);
  const sts = new STSClient(aws);
  const { Account = "" } = await sts.send(new GetCallerIdentityCommand({}));
  const region = await sts.config.region();
  return { cluster: options.cluster, account: Account, region, aws, cleanup, report, signal };
}

function explain({ cluster, account, region }: Smoke, { scale }: Options): void {
  const launch = scale
    ? `scale ${scale.namespace}/${scale.deployment} to ${scale.replicas}`
    : "wait for a launch";
  report(`This will, in account ${account}, region ${region}:

  1. deploy the stack of the node holder for ${cluster} with hold=2m
  2. ${launch}, and keep Karpenter's nodes from disruption for two minutes
  3. destroy the stack, also after a failure or Ctrl-C

These stay: the CDK's bootstrap and the functions' code in its bucket, metrics in CloudWatch until they expire, and
the nodes of the launch. With vpc, AWS removes the functions' network interfaces up to 40 minutes later.
AWS charges some cents for this, and the nodes of the launch as always.
`);
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new Error("there is no terminal to ask: add --yes to continue without a question");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question("Go on? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}

function scaling(text: string): Scaling {
  const [, namespace = "", deployment = "", replicas = ""] = /^([^/=]+)\/([^/=]+)=(\d+)$/.exec(text) ?? [];
  if (replicas === "") throw new InvalidArgumentError("It must be like default/web=5.");
  return { namespace, deployment, replicas: Number(replicas) };
}

function gather(text: string, all: readonly string[]): readonly string[] {
  if (/^\w+=./.test(text)) return [...all, text];
  throw new InvalidArgumentError("It must be like vpc=subnet-…,sg-….");
}

try {
  await command.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    report(`error: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
