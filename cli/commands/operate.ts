import { Command, InvalidArgumentError, Option } from "commander";
import { type Duration, formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { parseScope } from "../../lambda/core/scope.ts";
import { parseHeld, parseReleased, parseResumed, type ReleasedAnswer } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withHolder } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import { asJson, durationFlag, type Output, withExamples, withOutput } from "../terminal/flags.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatMoment } from "../terminal/text.ts";

type Options = HolderFlags &
  Readonly<{ for?: Duration; force?: true; reason?: string; scope?: string; output: Output }>;

/** Starts or extends a hold by hand. */
export const hold = (terminal: Terminal): Command =>
  withExamples(
    operation("hold", terminal, heldLines)
      .description("Start or extend a hold now, as a launch would; never past the cap.")
      .option(
        "--for <duration>",
        "how long, 1m to 24h (default: the deployment's hold)",
        durationFlag(minutes(1), hours(24)),
      )
      .requiredOption("--reason <text>", "why, for the record")
      .addOption(scopeFlag("default: cluster; required where scope is nodepool")),
    [
      ['hold --cluster prod --for 45m --reason "load test"', "keep every node for 45 minutes"],
      [
        'hold --cluster prod --scope nodepool/batch --reason "nightly run"',
        "where holds are by NodePool: the nodes of one",
      ],
    ],
  );

/** Ends holds at once. */
export const release = (terminal: Terminal): Command =>
  withExamples(
    operation("release", terminal, (answer) => releasedLines(parseReleased(answer)))
      .description("End holds now; launches before now do not start them again.")
      .option("--force", "confirm")
      .option("--reason <text>", "why, for the record")
      .addOption(scopeFlag())
      .hook("preAction", (_, itself) => {
        if (itself.opts<Options>().force) return;
        const problem = "holds end by themselves; add --force to end them now";
        throw new BadInputError("This release cannot be done", [problem]);
      }),
    [
      ["release --cluster prod --force", "release every node now"],
      ['release --cluster prod --force --scope nodepool/batch --reason "job is done"', "only one NodePool's"],
      ["release --run --force", "release what a `run` on this machine holds"],
    ],
  );

/** Releases all nodes, and starts no hold for a while. */
export const pause = (terminal: Terminal): Command =>
  withExamples(
    operation("pause", terminal, pausedLines)
      .description("Release all nodes and start no holds, for a while or until resumed.")
      .option(
        "--for <duration>",
        "how long, 1m to 2160h (default: until resumed)",
        durationFlag(minutes(1), hours(24 * 90)),
      )
      .option("--reason <text>", "why, and who: shown by status during the pause")
      .addOption(scopeFlag()),
    [
      ['pause --cluster prod --for 2h --reason "Ada replaces every node"', "pause for two hours"],
      ["pause --cluster prod", "pause until resumed"],
    ],
  );

/** Ends a pause or a breather. */
export const resume = (terminal: Terminal): Command =>
  withExamples(
    operation("resume", terminal, resumedLines)
      .description("End a pause or a breather: launches count again.")
      .addOption(scopeFlag()),
    [["resume --cluster prod", "let launches count again"]],
  );

/** Asks the holder to do something now, and prints what it did; `flags` lead to the same holder again. */
function operation(
  name: "hold" | "release" | "pause" | "resume",
  terminal: Terminal,
  linesOf: (answer: unknown, flags: string) => readonly string[],
): Command {
  const command = withOutput(withHolder(new Command(name), terminal), ["table", "json"]);
  return command.action(async (options: Options) => {
    const { reason, scope, output } = options;
    const { ask, flags } = await controlOf(options, terminal.env);
    const answer = await ask({
      do: name,
      ...(options.for !== undefined && { for: formatDuration(options.for) }),
      ...(reason && { reason }),
      ...(scope && { scope }),
    });
    for (const line of output === "json" ? [asJson(answer)] : linesOf(answer, flags)) terminal.out(line);
    if (name === "release" || name === "pause") failWhereSomeStay(parseReleased(answer));
  });
}

/** The flag that narrows an operation to one scope; what it means to leave it out depends on the operation. */
const scopeFlag = (otherwise = "default: all"): Option =>
  new Option("--scope <scope>", `cluster, or nodepool/NAME (${otherwise})`).argParser((text) => {
    const scope = parseScope(text);
    if (scope === undefined) throw new InvalidArgumentError('It must be "cluster" or "nodepool/NAME".');
    return scope;
  });

function heldLines(answer: unknown): readonly string[] {
  const { until, because, marked, userHeld } = parseHeld(answer);
  const without = marked === 0 ? " (those already held are not counted)" : "";
  return [
    `Held until ${formatMoment(until, new Date())}: ${because}.`,
    `Nodes marked now: ${marked}${without}; held by their users already: ${userHeld}.`,
  ];
}

function releasedLines({ because, released, kept, left }: ReleasedAnswer): readonly string[] {
  if (because === "nothing is held") return ["Nothing is held."];
  const users = kept > 0 ? `; ${kept} stay, because their mark is not ours any more` : "";
  return [
    `Nodes released: ${released}${users} (${because}).`,
    ...(left ? ["Some nodes are left: the sweep continues with them."] : []),
  ];
}

function pausedLines(answer: unknown, flags: string): readonly string[] {
  const action = parseReleased(answer);
  const until = action.until
    ? `until ${formatMoment(action.until, new Date())}`
    : `until \`resume ${flags}\``;
  return [`Paused ${until}.`, ...(action.released > 0 ? releasedLines(action) : [])];
}

function resumedLines(answer: unknown): readonly string[] {
  const { resumed, because } = parseResumed(answer);
  return [
    resumed.length > 0 ? `Resumed ${resumed.join(", ")}: ${because}.` : `Nothing to resume: ${because}.`,
  ];
}

/** Nodes that could not be changed are still held. */
function failWhereSomeStay({ failed }: ReleasedAnswer): void {
  if (failed === 0) return;
  throw new Failure(
    `${failed} nodes could not be changed`,
    "The sweep retries; if it keeps failing, run `doctor`, or read the log of `run`.",
  );
}
