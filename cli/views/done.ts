import { type Duration, formatDuration } from "../../lambda/core/duration.ts";
import type { HoldAnswer } from "../../lambda/core/operate/hold.ts";
import type { ReleaseAnswer } from "../../lambda/core/operate/release.ts";
import { counted } from "../../report/timeline/clock.ts";
import { parseHeld, parsePaused, parseReleased, parseResumed } from "../answers.ts";
import { Failure } from "../terminal/failure.ts";
import { formatMoment } from "../terminal/text.ts";

/** What was asked for; `flags` lead to the same holder again. */
export type Asked = Readonly<{ name?: string; for?: Duration; force?: true; scope?: string }>;

/** What a holder did, for people, and why it is not what was asked for. */
export type Done = Readonly<{ lines: readonly string[]; failure?: Failure | undefined }>;

const retried = "The sweep retries; if it keeps failing, run `doctor`, or read the log of `run`.";

/** What became of a request to hold. */
export function whatHeld(answer: unknown, asked: Asked): Done {
  const held = parseHeld(answer);
  const { name, until, heldUntil, because, marked, userHeld, observed } = held;
  const now = new Date();
  const isLonger = heldUntil && (!until || heldUntil > until);
  const alreadyHeld = marked === 0 ? " (those already held are not counted)" : "";
  return {
    lines: [
      ...(until ? [`Request ${name} holds until ${formatMoment(until, now)}: ${because}.`] : []),
      ...(isLonger ? [`Something else holds the nodes until ${formatMoment(heldUntil, now)}.`] : []),
      ...(until && !observed
        ? [`Nodes marked now: ${marked}${alreadyHeld}; held by their users already: ${userHeld}.`]
        : []),
    ],
    failure: whyNotHeld(held, asked),
  };
}

function whyNotHeld(held: HoldAnswer, asked: Asked): Failure | undefined {
  const { since, until, heldUntil, because, observed } = held;
  if (!since || !until || !heldUntil || heldUntil < until)
    return new Failure(
      `not held as asked: ${because}`,
      "`status` shows what is held, and what is paused, until when and why.",
    );
  const lasts = until.getTime() - since.getTime();
  if (asked.for !== undefined && lasts !== asked.for)
    return new Failure(
      `the request lasts ${formatDuration(lasts)}, not ${formatDuration(asked.for)} as asked`,
      "Ask again, or see with `status` what holds the nodes until when.",
    );
  if (observed)
    return new Failure(
      "the request is recorded, and no node is held: the holder only observes",
      "`status` prints how to hold from now on.",
    );
  return whyUnfinished(held);
}

/** What became of a release: of one request, or of everything. */
export function whatReleased(answer: unknown, { name, force }: Asked): Done {
  const released = parseReleased(answer);
  const { heldUntil } = released;
  const isStillHeld = heldUntil !== undefined && force;
  return {
    lines: releasedLines(released, name !== undefined),
    failure: isStillHeld
      ? new Failure("nodes are held again", "`status` shows what holds them.")
      : whyUnfinished(released),
  };
}

function releasedLines(answer: ReleaseAnswer, isNamed: boolean): readonly string[] {
  const { because, released, kept, failed, left, heldUntil } = answer;
  const isNothing = released + kept + failed === 0 && !left && !heldUntil && !isNamed;
  if (isNothing) return ["Nothing is held."];
  const users = kept > 0 ? `; ${kept} stay, because nothing shows that their annotation is the holder's` : "";
  return [
    `Nodes released: ${released}${users} (${because}).`,
    ...(heldUntil ? [`Something else holds the nodes until ${formatMoment(heldUntil, new Date())}.`] : []),
  ];
}

/** How this program was started, and the flags that name the holder. */
export type Called = Readonly<{ program: string; flags: string }>;

/** What became of a pause. */
export function whatPaused(answer: unknown, { program, flags, scope }: Pick<Asked, "scope"> & Called): Done {
  const paused = parsePaused(answer);
  const resume = `${program} resume ${flags}${scope ? ` --scope ${scope}` : ""}`;
  const until = formatMoment(paused.until, new Date());
  const { released, kept } = paused;
  return {
    lines: [
      `Paused until ${until}, or until \`${resume}\`.`,
      ...(released + kept > 0 ? releasedLines(paused, false) : []),
    ],
    failure: whyUnfinished(paused),
  };
}

/** What became of a resume. */
export function whatResumed(answer: unknown): Done {
  const { resumed, isPaused, because, ...nodes } = parseResumed(answer);
  const isResumed = resumed.length > 0;
  return {
    lines: [isResumed ? `Resumed ${resumed.join(", ")}: ${because}.` : `Nothing to resume: ${because}.`],
    failure: isPaused
      ? new Failure("it is still paused", "Resume the whole cluster: --scope cluster.")
      : whyUnfinished(nodes),
  };
}

/** Nodes that are not as they should be yet. */
function whyUnfinished({ failed, left }: Pick<ReleaseAnswer, "failed" | "left">): Failure | undefined {
  if (failed > 0) return new Failure(`${counted(failed, "node")} could not be changed`, retried);
  return left
    ? new Failure("the time was too short for all nodes: some are not changed yet", retried)
    : undefined;
}
