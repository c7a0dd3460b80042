import { Command, InvalidArgumentError, Option } from "commander";
import { type Duration, hours, minutes, parseDuration } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { textAs } from "../../lambda/schemas/parse.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import type { AdviseFlags } from "../advise/look.ts";
import { clusterName, withAws } from "../terminal/cluster-flags.ts";
import { AnswerNo } from "../terminal/failure.ts";
import { asData, durationOption, readBy, withExamples, withOutput } from "../terminal/flags.ts";
import { flagOf } from "../terminal/setting-flags.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Looks at a cluster without a change: what Karpenter did and may do, what to change, and which setting costs least. */
export const advise = (terminal: Terminal): Command => {
  const since = [hours(1), hours(2160)] as const;
  const { relaunchCost, evictionCost } = holderSettings;
  const usual = (text: string) => parseDuration(text) ?? 0;
  const command = withOutput(new Command("advise"), ["table", "json", "yaml"])
    .description(
      "Look at a cluster, without any change: what Karpenter did lately, what the NodePools allow and when, what to " +
        "change in them, and which setting of Karpenter or of the holder would cost least. It needs a kubeconfig with " +
        "rights to get and list, and nothing installed.",
    )
    .summary("Look at a cluster, without any change, and rank settings of Karpenter and of the holder.")
    .option("--kubeconfig <path>", "how to reach the cluster (default: $KUBECONFIG, then ~/.kube/config)")
    .option("--context <name>", "the kubeconfig's context (default: its current one)")
    .option(
      "--log <path...>",
      "read a saved log of Karpenter, JSON lines; without --kubeconfig and --context no cluster is asked",
    )
    .option(
      "--cluster <name>",
      "read CloudTrail of this EKS cluster, for longer times; like --log",
      clusterName,
    )
    .addOption(
      durationOption("--since <duration>", "how far to look back in CloudTrail, to 2160h", since, hours(168)),
    )
    .addOption(
      new Option(
        "--from <path...>",
        "read exported CloudTrail records, files or folders, instead of asking AWS",
      ).conflicts("since"),
    )
    .addOption(
      new Option("--time-zone <zone>", "the time zone of weeks and office hours")
        .argParser(readBy(timeZone))
        .default(ownTimeZone(), "this machine's, or UTC"),
    )
    .addOption(
      new Option("--holds <durations>", "constant holds to try, like 5m,20m,1h")
        .argParser(holdsFlag)
        .default([minutes(20)], "20m"),
    )
    .addOption(
      durationOption(
        "--relaunch-cost <duration>",
        "what a launch costs, in time of its node",
        [minutes(1), hours(24)],
        usual(relaunchCost.default),
      ),
    )
    .addOption(
      durationOption(
        "--eviction-cost <duration>",
        "what an evicted pod costs, in time of its node",
        [0, hours(24)],
        usual(evictionCost.default),
      ),
    )
    .option("--price <amount>", "what an hour of a node costs", readBy(price))
    .option("--prices <file>", 'what an hour costs by instance type: {"m5.large": 0.096}')
    .action((flags: AdviseFlags, given: Command) => answer(flags, given, terminal));
  return withExamples(withAws(command), [
    ["advise", "the cluster of your kubeconfig"],
    ["advise --context prod --time-zone Europe/Berlin", "another context and time zone"],
    [
      "advise --context prod --log karpenter.log --price 0.192",
      "also from a longer, saved log, and in money",
    ],
    ["advise --cluster prod --since 720h", "a month of CloudTrail"],
    ["advise --cluster prod --from AWSLogs", "from a trail's log files, copied from its bucket"],
    ["advise -o json | jq '.findings[].change'", "for a program; 3 is its exit code if there are findings"],
  ]);
};

/** Flags of CloudTrail alone. */
const ofTrail = ["from", "since", "region", "profile", "endpointUrl"];

async function answer(flags: AdviseFlags, given: Command, terminal: Terminal): Promise<void> {
  const vain = flags.cluster ? [] : ofTrail.filter((name) => given.getOptionValueSource(name) === "cli");
  if (vain.length > 0)
    throw new BadInputError(
      "These flags do not fit",
      vain.map((name) => `${flagOf(name)} needs --cluster: it is about CloudTrail`),
    );
  const { look } = await import("../advise/look.ts");
  const { print, json, findings } = await look(flags, terminal);
  const data = await asData(json, flags.output);
  for (const line of data === undefined ? print() : [data]) terminal.out(line);
  if (findings > 0) throw new AnswerNo();
}

/** Without a name where TZ is a path, or empty. */
function ownTimeZone(): string {
  const { timeZone }: Readonly<{ timeZone?: string }> = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone === undefined || timeZone === "Etc/Unknown" ? "UTC" : timeZone;
}

const timeZone = textAs("a time zone, like Europe/Berlin", (text) => {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: text }) && text;
  } catch {
    return undefined;
  }
});

const price = textAs("an amount, like 0.096", (text) => {
  const read = text.trim() === "" ? Number.NaN : Number(text);
  return read >= 0 && Number.isFinite(read) ? read : undefined;
});

function holdsFlag(text: string): readonly Duration[] {
  const holds = text.split(",").map((one) => {
    const read = parseDuration(one);
    if (read === undefined || read < minutes(1) || read > hours(24))
      throw new InvalidArgumentError("It must be durations from 1m to 24h, like 5m,20m,1h.");
    return read;
  });
  return [...new Set(holds)];
}
