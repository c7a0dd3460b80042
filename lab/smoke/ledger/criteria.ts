import { type Duration, minutes, seconds } from "../../../lambda/core/duration.ts";
import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { inSeconds, judged, type Row, type Seen } from "../smoke.ts";
import type { NodeSeen, Sample, SampleOf, ScopeSeen } from "./samples.ts";

/** The samples of both recorders, and how often each looked. */
type Ledger = Readonly<{
  begin: Date;
  end: Date;
  every: Duration;
  records: readonly SampleOf<"record">[];
  nodes: readonly SampleOf<"nodes">[];
}>;

type Criterion = Readonly<{ text: string; limit: string; judge: (ledger: Ledger) => Seen }>;

const soon: Duration = seconds(60);
const afterItsEnd: Duration = minutes(2);

/** What must be so; written down before a run begins, and copied into its first line. */
export const criteria: readonly Criterion[] = [
  {
    text: "a node that joins finds its scope held",
    limit: "within 60 s, by the record",
    judge: (ledger) =>
      worstOf(joinedIn(ledger), ledger, (node) =>
        ledger.records.find(
          ({ at, scopes }) =>
            at >= node.createdAt && scopes.some((one) => isHeld(one) && covers(one, node.nodePool)),
        ),
      ),
  },
  {
    text: "a node that joins is marked",
    limit: "within 60 s, by the cluster",
    judge: (ledger) =>
      worstOf(joinedIn(ledger), ledger, ({ name }) =>
        ledger.nodes.find(({ nodes }) => nodes.some((one) => one.name === name && isMarked(one))),
      ),
  },
  {
    text: "a mark stays until its hold ends, or the node is let go",
    limit: "no other node loses it",
    judge: judgeKept,
  },
  {
    text: "a hold that has ended leaves no mark",
    limit: "after 2 minutes none",
    judge: judgeReleased,
  },
  {
    text: "the annotation of a node without our label does not change",
    limit: "never",
    judge: judgeUsers,
  },
  {
    text: "record and cluster agree how many nodes are held",
    limit: "in 95 of 100 samples",
    judge: judgeAgreement,
  },
  { text: "both recorders looked all the time", limit: "9 of 10 samples are there", judge: judgeGaps },
];

/** One row for each criterion. What could not be seen counts as broken: it proved nothing. */
export function analyse(samples: readonly Sample[]): readonly Row[] {
  const [begin] = ofKind(samples, "begin");
  const last = samples.at(-1);
  if (!begin || !last) throw new Error("the ledger has no beginning");
  const texts = criteria.map(textOf);
  if (texts.join("\n") !== begin.criteria.join("\n"))
    throw new Error(
      "the criteria have changed since this ledger was begun: use the version that recorded it",
    );
  const ledger: Ledger = {
    ...{ begin: begin.at, end: last.at, every: begin.every },
    records: ofKind(samples, "record"),
    nodes: ofKind(samples, "nodes"),
  };
  return criteria.map(({ text, limit, judge }) => ({ assumption: text, expected: limit, ...judge(ledger) }));
}

/** A criterion as the first line of a ledger has it. */
export const textOf = ({ text, limit }: Pick<Criterion, "text" | "limit">): string => `${text}: ${limit}`;

const ofKind = <Kind extends Sample["kind"]>(
  samples: readonly Sample[],
  kind: Kind,
): readonly SampleOf<Kind>[] => samples.filter((one): one is SampleOf<Kind> => one.kind === kind);

const isHeld = ({ state }: ScopeSeen): boolean => state === "held";
const covers = ({ scope }: ScopeSeen, nodePool: string): boolean =>
  scope === "cluster" || scope === `nodepool/${nodePool}`;
const isMarked = ({ label, annotation }: NodeSeen): boolean => isHoldId(label) && annotation !== undefined;

/** The nodes that joined during the run, and that their users left to the holder. */
function joinedIn({ begin, nodes }: Ledger): readonly NodeSeen[] {
  const first = new Map<string, NodeSeen>();
  for (const sample of nodes)
    for (const node of sample.nodes) if (!first.has(node.name)) first.set(node.name, node);
  const isOurs = ({ label, annotation }: NodeSeen) =>
    isHoldId(label) || (label === undefined && annotation === undefined);
  // The cluster's times have whole seconds.
  const second = new Date(Math.floor(begin.getTime() / seconds(1)) * seconds(1));
  return [...first.values()].filter((node) => node.createdAt >= second && isOurs(node));
}

/** How long the slowest node waited; nodes that went, or joined too late to be judged, are left out. */
function worstOf(
  joined: readonly NodeSeen[],
  { nodes, every, end }: Ledger,
  find: (node: NodeSeen) => Readonly<{ at: Date }> | undefined,
): Seen {
  const limit = soon + every;
  const waits = joined.flatMap((node) => {
    const seenAt = find(node)?.at;
    if (seenAt) return [Math.max(0, seenAt.getTime() - node.createdAt.getTime())];
    const lastSeen =
      nodes.findLast((sample) => sample.nodes.some(({ name }) => name === node.name))?.at ?? end;
    return lastSeen.getTime() - node.createdAt.getTime() > limit ? [Number.POSITIVE_INFINITY] : [];
  });
  if (waits.length === 0) return judged(false, "no node joined");
  const worst = Math.max(...waits);
  return judged(worst <= limit, `${waits.length} nodes, the slowest after ${written(worst)}`);
}

const written = (wait: Duration): string => (Number.isFinite(wait) ? inSeconds(wait) : "never");

function judgeKept({ nodes, records, every }: Ledger): Seen {
  let lost = 0;
  const unexplained: string[] = [];
  for (const [i, sample] of nodes.entries()) {
    const before = new Map(nodes[i - 1]?.nodes.map((node) => [node.name, node]));
    for (const node of sample.nodes) {
      const label = before.get(node.name)?.label;
      if (!isHoldId(label) || isHoldId(node.label)) continue;
      lost += 1;
      const near = records.filter(({ at }) => Math.abs(at.getTime() - sample.at.getTime()) <= 3 * every);
      const explains = ({ scopes }: SampleOf<"record">) =>
        !scopes.some(({ holdId, state }) => holdId === label && state === "held") ||
        scopes.some(({ letGo, drifted }) => letGo.includes(node.name) || drifted > 0);
      if (!near.some(explains)) unexplained.push(node.name);
    }
  }
  const seen = `${lost} marks went`;
  return judged(
    unexplained.length === 0,
    unexplained.length > 0 ? `${seen}; ${unexplained.join(", ")}` : seen,
  );
}

function judgeReleased({ nodes, records, every }: Ledger): Seen {
  const ids = new Set(
    records.flatMap(({ scopes }) => scopes.filter(isHeld).flatMap(({ holdId }) => holdId ?? [])),
  );
  const holds = (sample: SampleOf<"record">, id: string) =>
    sample.scopes.some((one) => isHeld(one) && one.holdId === id);
  const late = [...ids].flatMap((id) => {
    const last = records.findLastIndex((sample) => holds(sample, id));
    const endedAt = records[last + 1]?.at;
    if (!endedAt) return [];
    const left = nodes.findLast((sample) => sample.nodes.some(({ label }) => label === id))?.at ?? endedAt;
    return [Math.max(0, left.getTime() - endedAt.getTime())];
  });
  if (late.length === 0) return judged(false, "no hold ended");
  const worst = Math.max(...late);
  return judged(
    worst <= afterItsEnd + every,
    `${late.length} holds, the last mark ${inSeconds(worst)} later`,
  );
}

function judgeUsers({ nodes }: Ledger): Seen {
  const users = new Set<string>();
  const changed = new Set<string>();
  for (const [i, sample] of nodes.entries()) {
    const before = new Map(nodes[i - 1]?.nodes.map((node) => [node.name, node]));
    for (const { name, label, annotation } of sample.nodes) {
      if (annotation !== undefined && !isHoldId(label)) users.add(name);
      const was = before.get(name);
      if (was?.annotation === undefined || isHoldId(was.label)) continue;
      if (annotation !== was.annotation || isHoldId(label)) changed.add(name);
    }
  }
  if (users.size === 0) return judged(false, "no node had an annotation of its user");
  return judged(changed.size === 0, `${users.size} nodes, changed: ${[...changed].join(", ") || "none"}`);
}

function judgeAgreement({ nodes, records, every }: Ledger): Seen {
  const pairs = nodes.flatMap(({ at, nodes: seen }) => {
    const near = nearest(records, at);
    if (!near || distance(near, at) > every) return [];
    const recorded = near.scopes.reduce((sum, { nodesHeld }) => sum + nodesHeld, 0);
    return [recorded === seen.filter(isMarked).length];
  });
  if (pairs.length === 0) return judged(false, "no two samples of the same time");
  const equal = pairs.filter(Boolean).length;
  return judged(equal >= 0.95 * pairs.length, `${equal} of ${pairs.length}`);
}

const distance = (one: SampleOf<"record">, at: Date): Duration => Math.abs(one.at.getTime() - at.getTime());

/** The first of the closest samples; samples are in the order of their times. */
function nearest(records: readonly SampleOf<"record">[], at: Date): SampleOf<"record"> | undefined {
  const next = records.findIndex((one) => one.at >= at);
  const around = next < 0 ? records.slice(-1) : records.slice(Math.max(0, next - 1), next + 1);
  return around.toSorted((a, b) => distance(a, at) - distance(b, at))[0];
}

function judgeGaps({ begin, end, every, nodes, records }: Ledger): Seen {
  const wanted = Math.max(1, Math.floor((end.getTime() - begin.getTime()) / every));
  const isWhole = Math.min(records.length, nodes.length) >= 0.9 * wanted;
  return judged(isWhole, `record ${records.length}, cluster ${nodes.length} of ${wanted}`);
}
