import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { deployedHolder } from "../../cli/control/control.ts";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { awsConfig, type ClusterFlags, withCluster } from "../../cli/terminal/cluster-flags.ts";
import { durationOption } from "../../cli/terminal/flags.ts";
import { Progress } from "../../cli/terminal/progress.ts";
import { processTerminal } from "../../cli/terminal/terminal.ts";
import { type Duration, formatDuration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { cdkFor } from "./cdk.ts";
import { ClusterView } from "./cluster-view.ts";
import { priceLines } from "./ledger/price.ts";
import { verdictsIn } from "./ledger/recorders.ts";
import { checksOf, listLines, wholeList } from "./list.ts";
import { labels, type Row, rowOf, type Smoke, type Tools, tableOf } from "./smoke.ts";

type Options = ClusterFlags &
  Readonly<{ yes?: true; kubeconfig?: string; wait: Duration; context?: readonly string[] }> &
  Readonly<{ ledger?: string | true; for: Duration; every: Duration; analyse?: string }>;

/** How long each part usually takes. */
const usual = {
  "the account": seconds(10),
  "the holder at work": minutes(8),
  "destroying the holder": minutes(3),
} as const;
let progress: Progress | undefined;

function report(line: string): void {
  if (progress) progress.print(line);
  else process.stderr.write(`${line}\n`);
}

const command = withCluster(new Command("npm run smoke --"), process, ({ analyse }) => analyse !== undefined)
  .description(
    "Deploy a holder on a real account for the cluster, watch one launch being held and released, destroy it, and " +
      "look for what stayed. Takes about a quarter of an hour.",
  )
  .option("--yes", "do not ask before creating anything")
  .option("--kubeconfig <path>", "your own kubeconfig: also look for marks and rights in the cluster")
  .addOption(
    durationOption(
      "--wait <duration>",
      "how long to wait for a launch",
      [seconds(30), hours(2)],
      minutes(15),
    ),
  )
  .option("-c, --context <setting=value>", "a setting of the deployment, like vpc=…; may be repeated", gather)
  .option("--ledger [file]", "record a long run with two recorders, and judge it by criteria written before")
  .addOption(
    durationOption(
      "--for <duration>",
      "with --ledger: how long to record",
      [minutes(1), hours(48)],
      hours(12),
    ),
  )
  .addOption(
    durationOption(
      "--every <duration>",
      "with --ledger: how often each recorder looks",
      [seconds(1), minutes(5)],
      seconds(30),
    ),
  )
  .option("--analyse <file>", "judge a ledger that is there, and do nothing else")
  .addHelpText("after", () => `\nWhat only a real account can show:\n\n${listLines().join("\n")}`)
  .exitOverride()
  .showHelpAfterError("See --help for all options.")
  .action(smoke);

async function smoke(options: Options): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      report(`${signal}: ending, and removing what was created`);
      stopping.abort(new Error("stopped"));
    });
  if (options.analyse) return conclude(verdictsIn(options.analyse));
  checkFlags(options);
  const run = await identify(options, stopping.signal);
  const tools = toolsOf(run, options);
  explain(run, options);
  if (!options.yes && !(await agreed())) throw new Error("nothing was created");

  const rows: Row[] = [];
  progress = new Progress(totalOf(usualFor(options)), processTerminal());
  try {
    await check(tools, options, rows);
  } catch (error) {
    progress.stop();
    print(wholeList(rows, options.context));
    throw error;
  }
  progress.stop();
  conclude(wholeList(rows, options.context));
}

const print = (rows: readonly Row[]) => process.stdout.write(`\n${tableOf(rows).join("\n")}\n`);

function conclude(rows: readonly Row[]): void {
  print(rows);
  const count = (verdict: Row["verdict"]) => rows.filter((row) => row.verdict === verdict).length;
  const broken = count("broken");
  if (broken > 0) throw new Error(`${broken} of ${broken + count("holds")} assumptions do not hold`);
}

async function check(tools: Tools, options: Options, rows: Row[]): Promise<void> {
  const { smoke, ledger } = tools;
  const usually = usualFor(options);
  const checks = checksOf(ledger !== undefined);
  /** Checks in this order, up to the first that is broken. */
  const inOrder = async (part: keyof typeof usual): Promise<boolean> => {
    const task = progress?.beginTimed(part, usually[part]);
    for (const one of checks[part]) {
      const row = await rowOf(one, tools);
      rows.push(row);
      report(`${labels[row.verdict]}: ${row.assumption}: ${row.seen}`);
      if (row.verdict === "broken") break;
    }
    task?.end();
    return rows.at(-1)?.verdict !== "broken";
  };
  report("checking the account; nothing is created yet");
  if (!(await inOrder("the account"))) return;
  smoke.signal.throwIfAborted();
  await inOrder("the holder at work");
  report("destroying the holder");
  const isGone = await inOrder("destroying the holder");
  if (!isGone)
    report(`To remove what may be left: npx cdk destroy -c cluster=${smoke.cluster} -c alarms=none`);
  if (ledger && existsSync(ledger.file)) rows.push(...verdictsIn(ledger.file));
}

function toolsOf(smoke: Smoke, options: Options): Tools {
  const { context = [], kubeconfig, for: lasts, every } = options;
  const file = ledgerOf(options);
  const hold = file ? [] : ["hold=2m"];
  return {
    smoke,
    isInVpc: context.some((one) => one.startsWith("vpc=")),
    cdk: cdkFor(smoke, [...hold, "alarms=none", ...context]),
    account: awsAccount(smoke.aws, smoke.cluster),
    ask: deployedHolder(options, process.env).ask,
    view: kubeconfig ? new ClusterView(kubeconfig) : undefined,
    waitForLaunch: options.wait,
    ledger: file ? { file, lasts, every } : undefined,
  };
}

async function identify(options: Options, signal: AbortSignal): Promise<Smoke> {
  const aws = awsConfig(options, process.env);
  const sts = new STSClient(aws);
  const { Account = "" } = await sts.send(new GetCallerIdentityCommand({}));
  const region = await sts.config.region();
  return { cluster: options.cluster, account: Account, region, aws, report, signal };
}

/** The file of the ledger, where one is wanted. */
const ledgerOf = ({ ledger, cluster }: Options): string | undefined =>
  ledger === true ? `ledger-${cluster}.jsonl` : ledger;

/** How long each part takes with these flags. */
const usualFor = ({ ledger, for: lasts }: Options): Readonly<Record<keyof typeof usual, Duration>> =>
  ledger ? { ...usual, "the holder at work": usual["the holder at work"] + lasts } : usual;

const totalOf = (parts: Readonly<Record<string, Duration>>): Duration =>
  Object.values(parts).reduce((sum, one) => sum + one, 0);

/** Refuses what would fail later, or mix two ledgers in one file. */
function checkFlags(options: Options): void {
  const wrong = (what: string) => command.error(`error: ${what}`);
  const file = ledgerOf(options);
  if (file === undefined) {
    for (const name of ["for", "every"])
      if (command.getOptionValueSource(name) === "cli") wrong(`--${name} needs --ledger`);
  } else if (!options.kubeconfig)
    wrong("--ledger needs --kubeconfig: the second recorder asks the cluster itself");
  else if (existsSync(file))
    wrong(`${file} is there already: name another file, or judge this one with --analyse ${file}`);
}

function explain({ cluster, account, region }: Smoke, { ledger, for: lasts }: Options): void {
  const [settings, work] = ledger
    ? [
        "your settings",
        `write a ledger for ${formatDuration(lasts)} while Karpenter works, then release everything`,
      ]
    : ["hold=2m", "wait for a launch, and keep Karpenter's nodes from disruption for two minutes"];
  const price = ledger ? `\n${needed}\n\nIt costs about:\n\n${priceLines(lasts).join("\n")}\n` : cents;
  report(`This will, in account ${account}, region ${region}:

  1. deploy the stack of the node holder for ${cluster} with ${settings}
  2. ${work}
  3. destroy the stack, also after a failure or Ctrl-C

These stay: the CDK's bootstrap and the functions' code in its bucket, metrics in CloudWatch until they expire, and
the nodes of the launch. With vpc, AWS removes the functions' network interfaces up to 40 minutes later.
${price}
`);
}

/** Without credentials nothing is destroyed in the end. */
const needed = "Your AWS credentials must be valid until the end, and this machine must not sleep.";

const cents = "AWS charges some cents for this, and the nodes of the launch as always.";

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

function gather(text: string, all: readonly string[] = []): readonly string[] {
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
