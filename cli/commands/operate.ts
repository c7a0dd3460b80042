import { Command, Option } from "commander";
import { formatDuration, hours, minutes } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { annotationKey, holderName } from "../../lambda/core/marks/keys.ts";
import type { ReleaseAnswer } from "../../lambda/core/operate/release.ts";
import { usualPause } from "../../lambda/core/quiet.ts";
import { matching } from "../../lambda/schemas/parse.ts";
import { callerPattern, duration, line, requestName, scope } from "../../lambda/schemas/values.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withAnyHolder, withHolder } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import { asData, type Output, readBy, withExamples, withOutput, withQuiet } from "../terminal/flags.ts";
import type { Terminal } from "../terminal/terminal.ts";
import {
  type Asked,
  type Called,
  type Done,
  whatHeld,
  whatPaused,
  whatReleased,
  whatResumed,
} from "../views/done.ts";
import { textLog } from "../views/run-log.ts";

type Options = HolderFlags &
  Asked &
  Readonly<{
    force?: true;
    reason?: string;
    kubeconfig?: string;
    context?: string;
    holdAnnotation?: string;
    output: Output;
    quiet?: true;
  }>;

/** Asks for a hold. */
export const hold = (terminal: Terminal): Command =>
  withExamples(
    operation("hold", terminal, whatHeld)
      .description("Hold nodes until a time that neither launches nor maxHold change.")
      .addOption(
        nameFlag(
          "what to call it, to release it by itself; one of the same name is replaced (default: by-hand)",
          requestName,
        ),
      )
      .option(
        "--for <duration>",
        "how long, 1m to 2160h, but no longer than the deployment's maxRequest (default: its hold; 20m with auto)",
        readBy(duration(minutes(1), hours(24 * 90))),
      )
      .requiredOption("--reason <text>", "why, for the record", readBy(line))
      .addOption(scopeFlag("default: cluster; required where scope is nodepool")),
    [
      ['hold --cluster prod --for 45m --reason "load test"', "keep every node for 45 minutes"],
      [
        'hold --cluster prod --name deploy-123 --for 30m --reason "deployment"',
        "the same under a name; `release --name deploy-123` ends it",
      ],
      [
        'hold --cluster prod --scope nodepool/batch --reason "nightly run"',
        "where holds are by NodePool: the nodes of one",
      ],
    ],
  );

/** Flags that only a holder understands. */
const ofHolders = ["cluster", "run", "region", "profile", "endpointUrl", "name", "scope", "reason"];

/** Ends one request, or everything. */
export const release = (terminal: Terminal): Command =>
  withExamples(
    operation("release", terminal, whatReleased)
      .description(
        "End one request by its name; or, with --force, everything: launches before now hold no more.",
      )
      .addOption(nameFlag("the request to end; what else holds the nodes stays", line).conflicts("force"))
      .option("--force", "end everything that holds")
      .addOption(
        new Option(
          "--kubeconfig <path>",
          "with --force: remove every mark of this kubeconfig's cluster, where no holder is left to do it",
        ).conflicts(ofHolders),
      )
      .addOption(new Option("--context <name>", "the same, by the kubeconfig's context").conflicts(ofHolders))
      .addOption(annotationFlag())
      .option("--reason <text>", "why, for the record")
      .addOption(scopeFlag("default: all; with --name: cluster"))
      .hook("preAction", (_, itself) => {
        const { force, name, kubeconfig, context, holdAnnotation } = itself.opts<Options>();
        if (holdAnnotation !== undefined && (kubeconfig ?? context) === undefined)
          throw new BadInputError("This release cannot be done", [
            "--hold-annotation needs --kubeconfig: a holder knows its own annotation",
          ]);
        if (force || name !== undefined) return;
        const problem =
          "holds end by themselves; add --name NAME to end one request, or --force to end everything";
        throw new BadInputError("This release cannot be done", [problem]);
      }),
    [
      ["release --cluster prod --name deploy-123", "end one request"],
      ["release --cluster prod --force", "release every node now"],
      ['release --cluster prod --force --scope nodepool/batch --reason "job is done"', "only one NodePool's"],
      ["release --run --force", "release what a `run` on this machine holds"],
      ["release --kubeconfig prod.yaml --force", "remove every mark, where no holder is left to do it"],
    ],
  );

/** Releases all nodes, and holds nothing for a while. */
export const pause = (terminal: Terminal): Command =>
  withExamples(
    operation("pause", terminal, whatPaused)
      .description("Release all nodes and hold nothing for a while, or until resumed. Then requests go on.")
      .option(
        "--for <duration>",
        `how long, 1m to 2160h (default: ${formatDuration(usualPause)})`,
        readBy(duration(minutes(1), hours(24 * 90))),
      )
      .option("--reason <text>", "why: shown by status during the pause")
      .addOption(scopeFlag()),
    [
      ['pause --cluster prod --for 2h --reason "Ada replaces every node"', "pause for two hours"],
      ["pause --cluster prod", "pause for a day"],
    ],
  );

/** Ends a pause or a breather: requests hold again, and launches count. */
export const resume = (terminal: Terminal): Command =>
  withExamples(
    operation("resume", terminal, whatResumed)
      .description("End a pause or a breather: requests hold again, and launches count.")
      .addOption(scopeFlag()),
    [["resume --cluster prod", "let launches and requests hold again"]],
  );

/** Asks the holder to do something now, and prints what it did; what is not as it was asked for fails. */
function operation(
  name: "hold" | "release" | "pause" | "resume",
  terminal: Terminal,
  whatDone: (answer: unknown, asked: Asked & Called) => Done,
): Command {
  const withFlags = name === "release" ? withHolder : withAnyHolder;
  const command = withQuiet(withOutput(withFlags(new Command(name), terminal), ["table", "json", "yaml"]));
  return command.action(async (options: Options) => {
    const { output, quiet } = options;
    const { calledAs: program = `npx ${holderName}` } = terminal;
    const isAlone = name === "release" && (options.kubeconfig ?? options.context) !== undefined;
    const { answer, flags } = isAlone
      ? { answer: await withoutHolder(options, terminal), flags: "" }
      : await asked(name, options, terminal);
    const { lines, failure } = whatDone(answer, { ...options, program, flags });
    const data = await asData(answer, output);
    if (!quiet) for (const line of data === undefined ? lines : [data]) terminal.out(line);
    if (failure) throw isAlone ? new Failure(failure.message, unretried) : failure;
  });
}

async function asked(name: string, options: Options, { env }: Terminal) {
  const { ask, flags } = await controlOf(options, env);
  const { reason } = options;
  const by = env.USER || env.LOGNAME || env.USERNAME || "";
  const answer = await ask({
    do: name,
    ...(options.name !== undefined && { name: options.name }),
    ...(options.for !== undefined && { for: formatDuration(options.for) }),
    ...(reason && { reason }),
    ...(callerPattern.test(by) && { by }),
    ...(options.scope && { scope: options.scope }),
  });
  return { answer, flags };
}

const unretried =
  "They stay held until that works, because no holder retries it: run the same command again.";

/** Removes every mark by itself, in the form of a holder's answer. */
async function withoutHolder(
  { kubeconfig, context, holdAnnotation: annotation, quiet }: Options,
  terminal: Terminal,
): Promise<ReleaseAnswer> {
  const { findCluster } = await import("../../local/run/find-cluster.ts");
  const { releaseMarks } = await import("../../local/run/release-marks.ts");
  const config = findCluster({ path: kubeconfig, context, env: terminal.env });
  if (!quiet)
    terminal.notify(
      `Removing every mark in ${config.getCurrentCluster()?.server}. A holder at work marks nodes again.`,
    );
  const log = textLog({ ...terminal, out: quiet ? () => {} : terminal.notify });
  const done = await releaseMarks({ config, log, annotation, isTriedOnce: true });
  return { ...done, because: "by their marks alone" };
}

/** The flag that names a request; windows and events may have names that nobody may give by hand. */
const nameFlag = (description: string, schema: typeof line): Option =>
  new Option("--name <name>", description).argParser(readBy(schema));

/** The flag that names the annotation of marks that no holder is asked about. */
const annotationFlag = (): Option =>
  new Option(
    "--hold-annotation <text>",
    "with --kubeconfig: the annotation of the marks, where the holder had one of its own",
  )
    .conflicts(ofHolders)
    .argParser(readBy(matching(annotationKey, "an annotation key with a prefix")));

/** The flag that narrows a command to one scope; what it means to leave it out depends on the command. */
export const scopeFlag = (otherwise = "default: all"): Option =>
  new Option("--scope <scope>", `cluster, or nodepool/NAME (${otherwise})`).argParser(readBy(scope));
