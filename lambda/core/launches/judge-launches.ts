import { type Duration, minutes, seconds } from "../duration.ts";
import type { Launch, Replacement, Unavailable } from "../ports.ts";

/** Karpenter writes the event of a replacement at most about a second after the instance is there. */
export const eventDelay: Duration = seconds(2);
/** An instance without a known NodeClaim counts as demand after so long. */
export const doubtEndsAfter: Duration = minutes(1);

/** Whether Karpenter launched for waiting pods, and how we know. */
export type Verdict = Readonly<{ kind: "demand" | "replacement" | "unknown yet"; because: string }>;

export const wasRecognised = "it was recognised as a replacement before";

export type JudgeFacts = Readonly<{
  /** Instances that were recognised as replacements before; their events may have expired since. */
  remembered: ReadonlySet<string>;
  /** What Karpenter's events name as replacements now; `no answer` where it could not be read this time. */
  replacements: readonly Replacement[] | Unavailable | "no answer";
  firstSeenAt: Date;
  now: Date;
}>;

/** In doubt a launch is demand: a needless hold costs minutes of a node, a missing one costs the work on it. */
export function judgeLaunch(launch: Launch, facts: JudgeFacts): Verdict {
  const { remembered, replacements } = facts;
  if (remembered.has(launch.instance)) {
    return { kind: "replacement", because: wasRecognised };
  }
  const age = ageOf(launch, facts);
  if (replacements === "no answer") return inDoubt(age, "Karpenter's events could not be read");
  if ("unavailable" in replacements) return { kind: "demand", because: replacements.unavailable };

  const own = replacements.find(({ instance }) => instance === launch.instance);
  if (own) {
    const because = `Karpenter launched NodeClaim ${own.nodeClaim} to replace other nodes`;
    return { kind: "replacement", because };
  }
  if (age < eventDelay) {
    return { kind: "unknown yet", because: "Karpenter's event of a replacement may still be on its way" };
  }
  const open = replacements.find(({ instance }) => instance === undefined);
  if (!open) return { kind: "demand", because: "no event names it as a replacement" };
  return inDoubt(age, `replacement ${open.nodeClaim} has no instance yet`);
}

const inDoubt = (age: Duration, because: string): Verdict =>
  age < doubtEndsAfter
    ? { kind: "unknown yet", because }
    : { kind: "demand", because: `in doubt: ${because}` };

/** When to judge a launch again that is unknown yet. */
export const judgeAgainAfter = (launch: Launch, facts: Pick<JudgeFacts, "firstSeenAt" | "now">): Duration => {
  const age = ageOf(launch, facts);
  return age < eventDelay ? eventDelay - age : seconds(5);
};

/** The clocks of cloud and function may differ: what was heard two seconds ago is two seconds old. */
const ageOf = (
  { launchedAt }: Launch,
  { firstSeenAt, now }: Pick<JudgeFacts, "firstSeenAt" | "now">,
): Duration => now.getTime() - Math.min(launchedAt.getTime(), firstSeenAt.getTime());
