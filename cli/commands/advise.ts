import { Command, InvalidArgumentError, Option } from "commander";
import {
  after,
  type Duration,
  earlier,
  hours,
  later,
  minutes,
  parseDuration,
} from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import type { Question } from "../advise/advice.ts";
import type { InstanceEvent } from "../advise/lives.ts";
import { explainAwsError } from "../aws-errors.ts";
import { awsConfig, type ClusterFlags, withCluster } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import {
  asJson,
  durationOption,
  type Output,
  priceFlag,
  withExamples,
  withOutput,
} from "../terminal/flags.ts";
import { checkWritable, writePrivateFile } from "../terminal/private-file.ts";
import { Progress } from "../terminal/progress.ts";
import { settingsFrom, withSettings } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { about } from "../terminal/text.ts";

type AdviseOptions = ClusterFlags &
  Readonly<{
    since: Duration;
    from?: string[];
    cache?: string;
    holds?: readonly Duration[];
    relaunchCost: Duration;
    prices?: string;
    price?: number;
    html?: string;
    output: Output;
  }>;

/** The settings of the holder that is tried, beside each `hold`. */
const { maxHold, breather, scope } = holderSettings;

/** Karpenter goes on with what it began. */
const begunBefore = minutes(3);

/** Computes from CloudTrail which `hold` would have been best. */
export const advise = (terminal: Terminal): Command => {
  const since = [hours(1), hours(2160)] as const;
  const command = withOutput(withCluster(new Command("advise"), terminal), ["table", "json"])
    .description("Compute from CloudTrail which hold would have been best, and what it would have cost.")
    .addOption(durationOption("--since <duration>", "how far to look back, to 2160h", since, hours(168)))
    .addOption(
      new Option(
        "--from <path...>",
        "read exported CloudTrail records, files or folders, instead of asking AWS",
      ).conflicts(["since", "cache"]),
    )
    .option(
      "--cache <file>",
      "cache file, so that reading can continue later (default: one for each account, region and cluster)",
    )
    .option("--holds <durations>", "values to try, like 5m,20m,1h", holdsFlag)
    .addOption(
      durationOption(
        "--relaunch-cost <duration>",
        "what a needless launch is worth, in time of its node",
        [minutes(1), hours(24)],
        minutes(10),
      ),
    )
    .option("--price <amount>", "what an hour of a node costs", priceFlag)
    .option("--prices <file>", 'what an hour costs by instance type: {"m5.large": 0.096}')
    .option("--html <file>", "also write a report with plots")
    .action((options: AdviseOptions) => answer(options, terminal));
  return withExamples(withSettings(command, { maxHold, breather, scope }), [
    ["advise --cluster prod", "from the last week"],
    [
      "advise --cluster prod --since 720h --prices prices.json --html advice.html",
      "a month, in money, as a report",
    ],
    ["advise --cluster prod --from events.json", "from what `aws cloudtrail lookup-events` exported"],
    ["advise --cluster prod --from AWSLogs", "from a trail's log files, copied from its bucket"],
  ]);
};

async function answer(options: AdviseOptions, terminal: Terminal): Promise<void> {
  const { out, style } = terminal;
  // Every hold that is tried is cut by maxHold, however short that is.
  const { relaunchCost: _, ...flags } = options;
  const { settings } = settingsFrom(flags, { hold: "1m" });
  const { adviseAll, scaleOf, usualHolds } = await import("../advise/advice.ts");
  const { describeMissingPrices, readPrices } = await import("../advise/prices.ts");
  const priceOf = readPrices(options.prices, options.price);
  if (options.html) checkWritable(options.html);
  const now = new Date();
  const events = options.from
    ? (await import("../advise/cloudtrail-events.ts")).exportedEvents(options.from, options.cluster)
    : await readCloudTrail(options, now, terminal);
  const { nodeLives } = await import("../advise/lives.ts");
  const lives = nodeLives(events);
  if (lives.length === 0) throw nothingFound(options);

  const times = events.map(({ at }) => at);
  const period = options.from
    ? { from: times.reduce(earlier), until: times.reduce(later) }
    : { from: after(now, -options.since), until: now };
  const { maxHold, breather, scope } = settings;
  const plan = { begunBefore, maxHold, breather, scope };
  const { holds = usualHolds, relaunchCost, cluster } = options;
  const unpriced = describeMissingPrices(lives, priceOf);
  const inMoney = unpriced.length === 0 && priceOf ? { priceOf } : {};
  const question: Question = { cluster, ...plan, ...period, holds, relaunchCost, ...inMoney };
  const advice = adviseAll(lives, question);

  const view = await import("../advise/view.ts");
  const notes = [...unpriced, ...view.assumptions(question)];
  const figures = scaleOf(question).per;
  if (options.output === "json")
    out(asJson({ cluster, ...period, figures, advice: advice.map(view.adviceJson) }));
  else {
    out(`${view.describePeriod(question)}\n`);
    for (const one of advice) out(`${view.adviceView(one, question, style).join("\n")}\n`);
    for (const one of notes) out(style("dim", `· ${one}`));
  }
  if (!options.html) return;
  const { advicePage } = await import("../advise/page.ts");
  writePrivateFile(options.html, advicePage({ question, advice, assumptions: notes }));
  terminal.notify(`The report is in ${options.html}.`);
}

/** Reads from AWS what the cache does not have yet. */
async function readCloudTrail(
  options: AdviseOptions,
  now: Date,
  terminal: Terminal,
): Promise<readonly InstanceEvent[]> {
  const { env } = terminal;
  const { Archive, cacheFile } = await import("../advise/archive.ts");
  const { CloudTrailReader } = await import("../advise/cloudtrail.ts");
  const config = awsConfig(options, env);
  const path = options.cache ?? (await cacheFile(config, options.cluster, env));
  const archive = new Archive(path);
  const from = after(now, -options.since);
  // The newest quarter of an hour is not in CloudTrail yet, and must not count as read.
  const to = after(now, -minutes(15));
  const progress = new Progress(1, terminal);
  const task = progress.begin("CloudTrail");
  try {
    await new CloudTrailReader(config, options.cluster).read(archive, from, to, (soFar) => {
      const back = about(now.getTime() - soFar.reached.getTime());
      task.advance(
        soFar.share,
        `${soFar.call} read back to ${back} ago, ${soFar.events} events of this cluster so far`,
      );
    });
    progress.stop();
  } catch (error) {
    progress.stop();
    const explained = explainAwsError(error, "look up CloudTrail events");
    const kept = `What was read is kept in ${path}; the same command continues from there.`;
    if (explained instanceof Failure) throw new Failure(explained.message, `${explained.remedy} ${kept}`);
    if (explained instanceof TryAgainError) throw new Failure(explained.message, kept);
    throw explained;
  }
  return archive.events.filter(({ at }) => at >= from);
}

const nothingFound = ({ cluster, from }: AdviseOptions): Failure =>
  new Failure(
    `no launch of a Karpenter node of cluster ${cluster} was found`,
    from
      ? "Does the export contain CreateFleet, RunInstances and TerminateInstances, and is it of this cluster?"
      : "Check --cluster and --region, or look back further with --since.",
  );

function holdsFlag(text: string): readonly Duration[] {
  return text.split(",").map((one) => {
    const read = parseDuration(one);
    if (read === undefined || read < minutes(1) || read > hours(24))
      throw new InvalidArgumentError("It must be durations from 1m to 24h, like 5m,20m,1h.");
    return read;
  });
}
