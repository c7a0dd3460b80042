import { Command, Option } from "commander";
import { type Duration, formatDuration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { messageOf } from "../../lambda/core/errors.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import { parseStatus, type StatusAnswer } from "../answers.ts";
import { controlOf } from "../control/control.ts";
import { type HolderFlags, withAnyHolder } from "../terminal/cluster-flags.ts";
import { Failure } from "../terminal/failure.ts";
import {
  asData,
  durationOption,
  type Output,
  withExamples,
  withOutput,
  withQuiet,
} from "../terminal/flags.ts";
import { Exit, type Terminal } from "../terminal/terminal.ts";
import { readable } from "../terminal/text.ts";
import { isHeld, isReleased } from "../views/status-view.ts";
import { scopeFlag } from "./operate.ts";

type WaitOptions = HolderFlags &
  Readonly<{
    for: "held" | "released";
    timeout: Duration;
    every: Duration;
    scope?: Scope;
    output: Output;
    quiet?: true;
  }>;

/** Waits until something is held, or until nothing is. */
export const wait = (terminal: Terminal): Command =>
  withExamples(
    withQuiet(withOutput(withAnyHolder(new Command("wait"), terminal), ["table", "json", "yaml"]))
      .summary("Wait until something is held, or until nothing is.")
      .description(
        "Wait until something is held, or until nothing is held and no node has a mark. Exits with 3 where that takes longer than --timeout. --output json or yaml prints the last status.",
      )
      .addOption(
        new Option("--for <state>", "what to wait for").choices(["held", "released"]).makeOptionMandatory(),
      )
      .addOption(scopeFlag("default: any"))
      .addOption(
        durationOption(
          "--timeout <duration>",
          "how long to wait at most",
          [seconds(1), hours(24)],
          minutes(10),
        ),
      )
      .addOption(
        durationOption("--every <duration>", "how often to ask", [seconds(1), hours(1)], seconds(10)),
      )
      .action((options: WaitOptions) => waitFor(options, terminal)),
    [
      ["wait --cluster prod --for held", "until a launch or a request holds"],
      ["wait --cluster prod --for released --timeout 2h", "until Karpenter may disrupt every node again"],
      ["wait --run --for released --scope nodepool/batch", "the same for one NodePool of a `run`"],
    ],
  );

const isSo: Readonly<Record<WaitOptions["for"], (status: StatusAnswer, scope?: Scope) => boolean>> = {
  held: isHeld,
  released: isReleased,
};

/** The last question is asked when time is over. */
const toAnswer = seconds(2);

/** The first failure ends it; later ones may pass, and the last one is reported where time is over. */
async function waitFor(options: WaitOptions, { env, out, notify }: Terminal): Promise<void> {
  const { for: state, timeout, every, scope, output, quiet } = options;
  const { ask, toHold } = await controlOf(options, env);
  const end = performance.now() + timeout;
  const over = AbortSignal.timeout(timeout + toAnswer);
  const late = () =>
    new Failure(
      `not ${state} within ${formatDuration(timeout)}`,
      "`status` shows what holds, until when and why.",
      Exit.no,
    );
  let answer: unknown;
  const look = async () => {
    answer = await ask({ do: "status" }, over).catch((error: unknown) => {
      throw over.aborted ? late() : error;
    });
    return parseStatus(answer);
  };
  let status = await look();
  if (state === "held" && status.rules.mode === "observe")
    throw new Failure("this holder only observes, so nothing is held", `To hold: ${toHold(status)}.`);
  const known = status.scopes.map((one) => one.scope);
  if (scope !== undefined && status.rules.scope === "nodepool" && !known.includes(scope))
    notify(`The holder has not seen ${scope} yet; it knows: ${known.join(", ") || "none"}.`);
  let failed: unknown;
  while (!isSo[state](status, scope)) {
    const left = end - performance.now();
    if (left <= 0) throw failed ?? late();
    await new Promise((resolve) => setTimeout(resolve, Math.min(every, left)));
    try {
      status = await look();
      failed = undefined;
    } catch (error) {
      if (over.aborted) throw error;
      failed = error;
      notify(`Could not ask: ${readable(messageOf(error))}. Trying again.`);
    }
  }
  if (!quiet) out((await asData(answer, output)) ?? state);
}
