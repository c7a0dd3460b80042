import { after, type Duration, formatDuration, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import type { FakeCluster } from "../fake-kubernetes/fake-cluster.ts";
import type { Work } from "../work.ts";

/** What happens outside of the holder, and when. */
export const plot = {
  maxHold: minutes(25),
  /** Jobs, which need new nodes; again soon after, when these are gone; and again after as long, when they are still there. */
  first: minutes(1),
  again: minutes(8) + seconds(10),
  third: minutes(15) + seconds(20),
  jobLasts: minutes(5),
  /** A service shrinks so that its node is superfluous: for a few minutes, and then for good. */
  shrinks: minutes(25),
  grows: minutes(28) + seconds(30),
  shrinksAgain: minutes(30),
  /** A job when the hold is over. */
  later: minutes(43),
  oneShotLost: minutes(45) + seconds(10),
  end: minutes(70),
  karpenter: { boot: seconds(40), consolidateAfter: seconds(30) },
  /** Nodes that were there before; the service that shrinks is on one, and the user holds another. */
  here: ["anna", "bert", "cleo"],
  shrinking: "bert",
  usersOwn: "cleo",
  newNodes: ["dora", "emil", "frida", "greta", "hugo", "ida", "jan", "kira"],
} as const;

/** One promise, whether it was kept, and what was found. */
export type Check = Readonly<{ promise: string; isKept: boolean; saw: string }>;

/** What the verdict is based on: the API server's own history, the record, and what Karpenter did. */
export type Evidence = Readonly<{
  begin: Date;
  end: Date;
  observer: Observer;
  history: readonly PastHold[];
  counts: Work["counts"];
}>;

const burst = plot.newNodes.slice(0, 3);
const last = plot.newNodes.at(-1) ?? "";
const [stays] = plot.here;

/** Checks the promises only by the API server's history, the record, and what the same work takes without the holder. */
export function judge(
  { begin, end, observer, history, counts }: Evidence,
  without: Evidence["counts"],
): readonly Check[] {
  const moment = (time: Duration) => after(begin, time);
  const report = (at: Date | undefined) => (at ? formatDuration(at.getTime() - begin.getTime()) : "never");
  const [first, second] = history.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  const firstEnd = moment(plot.third + plot.maxHold);
  const secondEnd = moment(plot.later + plot.maxHold);

  const heldFrom = (nodes: readonly string[], at: Date) => nodes.map((node) => observer.heldSince(node, at));
  const within = (dates: readonly (Date | undefined)[], latest: Date) =>
    dates.every((date) => date !== undefined && date <= latest);
  const formatAll = (dates: readonly (Date | undefined)[]) => dates.map(report).join(", ");

  const marked = heldFrom([stays, plot.shrinking], moment(plot.first + minutes(1)));
  const joined = burst.map((node) => observer.of(node)[0]?.at);
  const newNodes = heldFrom(burst, moment(plot.first + minutes(3)));
  const unbroken = heldFrom([stays], after(firstEnd, -1));
  const letGo = observer.freeSince(plot.shrinking, moment(plot.later));
  const worth = { from: moment(plot.shrinksAgain + minutes(6)), to: moment(plot.shrinksAgain + minutes(8)) };
  const freed = observer.freeSince(stays, moment(plot.later));
  const users = observer.of(plot.usersOwn).map((sight) => sight.annotation ?? "none");
  const repaired = heldFrom([stays, last], moment(plot.later + minutes(2)));
  const left = [...plot.here, ...plot.newNodes].filter((node) => observer.at(node, end)?.holdId);
  const spared = first?.evictionsSpared ?? 0;

  return [
    {
      promise: "the first launch holds every node that is there, at once",
      isKept: within(marked, moment(plot.first + seconds(5))),
      saw: `held since ${formatAll(marked)}`,
    },
    {
      promise: "new nodes are held within half a minute of joining",
      isKept: newNodes.every((at, i) => at && joined[i] && at <= after(joined[i], seconds(30))),
      saw: `joined ${formatAll(joined)}, held since ${formatAll(newNodes)}`,
    },
    {
      promise: "once jobs have come again soon, empty nodes wait for them",
      isKept: counts.launched === plot.newNodes.length && without.launched > counts.launched,
      saw: `${counts.launched} launches; the same work without the holder: ${without.launched}`,
    },
    {
      promise: "a service that shrinks and grows again keeps its pods where they are",
      isKept: spared > 0 && without.evicted > counts.evicted,
      saw: `${counts.evicted} pods evicted; the same work without the holder: ${without.evicted}`,
    },
    {
      promise:
        "a node goes when it was superfluous for as long as its removal is worth: 6 minutes for 2 pods",
      isKept: letGo !== undefined && letGo >= worth.from && letGo <= worth.to,
      saw: `superfluous since ${formatDuration(plot.shrinksAgain)}, let go after ${report(letGo)}`,
    },
    {
      promise: "a node that is needed is not without its annotation for a moment until the hold is over",
      isKept: within(unbroken, moment(plot.first + minutes(1))),
      saw: `held without a break since ${formatAll(unbroken)}`,
    },
    {
      promise: `${formatDuration(plot.maxHold)} after the last launch all nodes are free, within seconds`,
      isKept: within([freed], after(firstEnd, seconds(5))) && (freed ?? begin) >= firstEnd,
      saw: `free since ${report(freed)}, due ${report(firstEnd)}`,
    },
    {
      promise: "the user's own annotation is never touched",
      isKept: users.join() === "none,true" && observer.of(plot.usersOwn).every((sight) => !sight.holdId),
      saw: `it was ${users.join(", then ")}`,
    },
    {
      promise: "what the failing API server left undone, the next pass does",
      isKept: within(repaired, moment(plot.later + minutes(2))),
      saw: `held since ${formatAll(repaired)}`,
    },
    {
      promise: "the sweep replaces the lost one-shot: the hold ends on time",
      isKept:
        within([second?.endedAt], after(secondEnd, seconds(5))) && (second?.endedAt ?? end) >= secondEnd,
      saw: `ended ${report(second?.endedAt)}, due ${report(secondEnd)}`,
    },
    {
      promise: "nothing of ours stays on any node, and history reports both holds",
      isKept: left.length === 0 && history.length === 2,
      saw: `${left.length} marks left, ${history.length} holds in history`,
    },
  ];
}

/** What the API server had written on a node from a moment on. */
type Sight = Readonly<{ at: Date; annotation: string | undefined; holdId: string | undefined }>;

/** Records every version of every node. */
export class Observer {
  readonly #sights = new Map<string, Sight[]>();

  constructor(cluster: FakeCluster, annotation: string, clock: Clock) {
    cluster.onChange(({ node }) => {
      const { name, labels, annotations } = parseNode(node);
      const sight = { at: clock.now(), annotation: annotations?.[annotation], holdId: labels?.[holdLabel] };
      this.#sights.set(name, [...(this.#sights.get(name) ?? []), sight]);
    });
  }

  /** Everything that was ever written on a node. */
  of(node: string): readonly Sight[] {
    return this.#sights.get(node) ?? [];
  }

  /** What was written on a node at that moment; undefined before it joined. */
  at(node: string, moment: Date): Sight | undefined {
    return this.of(node).findLast((sight) => sight.at <= moment);
  }

  /** Since when a node carried its annotation without a break, looking back from that moment. */
  heldSince(node: string, moment: Date): Date | undefined {
    const before = this.of(node).filter((sight) => sight.at <= moment);
    const gap = before.findLastIndex((sight) => sight.annotation !== "true");
    return before[gap + 1]?.at;
  }

  /** Since when a node has been without its annotation, looking back from that moment. */
  freeSince(node: string, moment: Date): Date | undefined {
    const before = this.of(node).filter((sight) => sight.at <= moment);
    const held = before.findLastIndex((sight) => sight.annotation === "true");
    return before[held + 1]?.at;
  }
}
