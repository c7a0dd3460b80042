import { after, type Duration, minutes } from "../duration.ts";

/** The sender of a probe stops waiting after this time. */
const longestWait: Duration = minutes(10);
/** A flood of probes must not keep launches waiting; doctor sends one at a time. */
const mostInABatch = 2;

/** The probes of a batch that are answered: the newest, if they are still waited for. */
export const probesToAnswer = <P extends Readonly<{ sentAt: Date }>>(
  probes: readonly P[],
  now: Date,
): readonly P[] =>
  probes
    .filter(({ sentAt }) => sentAt > after(now, -longestWait))
    .toSorted((a, b) => b.sentAt.getTime() - a.sentAt.getTime())
    .slice(0, mostInABatch);
