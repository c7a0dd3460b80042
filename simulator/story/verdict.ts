import { after, type Duration, formatDuration, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import type { FakeCluster } from "../fake-kubernetes/fake-cluster.ts";

/** What happens outside of the holder, and when. */
export const plot = {
  hold: minutes(20),
  /** Three jobs, which need three new nodes; three jobs again, which find them; one job when they are gone. */
  first: minutes(1),
  again: minutes(13),
  later: minutes(27),
  jobLasts: minutes(5),
  karpenter: { boot: seconds(40), consolidateAfter: seconds(30) },
  oneShotLost: minutes(29),
  end: minutes(50),
  /** Nodes that were there before, and the one among them that its user holds. */
  here: ["anna", "bert", "cleo"],
  usersOwn: "cleo",
  newNodes: ["dora", "emil", "frida", "greta"],
} as const;

/** One promise, whether it was kept, and what was found. */
export type Check = Readonly<{ promise: string; isKept: boolean; saw: string }>;

/** What the verdict is based on: the API server's own history, the record, and how many nodes were launched. */
export type Evidence = Readonly<{
  begin: Date;
  end: Date;
  observer: Observer;
  history: readonly PastHold[];
  launched: number;
}>;

const burst = plot.newNodes.slice(0, 3);
const last = plot.newNodes[3];
const theirs = plot.here.filter((node) => node !== plot.usersOwn);

/** Checks the promises only by the API server's history, the record, and what the same work takes without the holder. */
export function judge(
  { begin, end, observer, history, launched }: Evidence,
  launchedWithout: number,
): readonly Check[] {
  const moment = (time: Duration) => after(begin, time);
  const report = (at: Date | undefined) => (at ? formatDuration(at.getTime() - begin.getTime()) : "never");
  const [first, second] = history.toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  const firstEnd = moment(plot.first + plot.hold);
  const secondEnd = moment(plot.later + plot.hold);

  const heldFrom = (nodes: readonly string[], at: Date) => nodes.map((node) => observer.heldSince(node, at));
  const within = (dates: readonly (Date | undefined)[], latest: Date) =>
    dates.every((date) => date !== undefined && date <= latest);
  const formatAll = (dates: readonly (Date | undefined)[]) => dates.map(report).join(", ");
  const freeAt = (nodes: readonly string[], at: Date) =>
    nodes.filter((node) => observer.at(node, at)?.annotation === undefined);

  const marked = heldFrom(theirs, moment(plot.first + minutes(1)));
  const joined = burst.map((node) => observer.of(node)[0]?.at);
  const newNodes = heldFrom(burst, moment(plot.first + minutes(3)));
  const unbroken = heldFrom([...theirs, ...burst], after(firstEnd, -1));
  const free = freeAt([...theirs, ...burst], after(firstEnd, seconds(5)));
  const users = observer.of(plot.usersOwn).map((sight) => sight.annotation ?? "none");
  const repaired = heldFrom([...theirs, last], moment(plot.later + minutes(2)));
  const left = [...plot.here, ...plot.newNodes].filter((node) => observer.at(node, end)?.holdId);

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
      promise: "the second burst finds the nodes of the first",
      isKept: launched === plot.newNodes.length && launchedWithout > launched,
      saw: `${launched} launches; the same work without the holder: ${launchedWithout}`,
    },
    {
      promise: "no held node is without its annotation for a moment until the hold is over",
      isKept: within(unbroken, moment(plot.first + minutes(2))),
      saw: `held without a break since ${formatAll(unbroken)}`,
    },
    {
      promise: "20 minutes after the last launch all of them are free, within seconds",
      isKept: free.length === theirs.length + burst.length && first?.endedBecause === "the hold expired",
      saw: `free at ${report(after(firstEnd, seconds(5)))}: ${free.join(", ")}`,
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
}
