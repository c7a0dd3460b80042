import { after, hours } from "../../lambda/core/duration.ts";
import { flagOf } from "../terminal/setting-flags.ts";
import { quoted } from "../terminal/text.ts";
import { unreadableIn } from "./allowed.ts";
import type { Account } from "./history.ts";
import { type NodePool, patchOf } from "./objects.ts";
import type { Applies, Candidate, Ranking } from "./rank.ts";

/** What to do, in a sentence, and the commands that do it. */
export type Advice = Readonly<{
  verdict: "holder" | "karpenter" | "nothing" | "unknown";
  because: string;
  commands: readonly string[];
}>;

/** How the holder would be started here. */
export type Place = Readonly<{
  cluster: string;
  /** The flags that find the cluster. */
  flags: readonly string[];
  /** Nodes of AWS can have the holder in Lambda. */
  isAws: boolean;
}>;

/** A saving below this many node-hours is none. */
const least = 0.1;

export type Known = Readonly<{
  ranking: Ranking;
  accounts: readonly Account[];
  pools: readonly NodePool[];
  /** Whether no NodePool lets Karpenter consolidate in the coming week. */
  isClosed: boolean;
  place: Place;
  readAt: Date;
}>;

/** The best candidate and what applies it; also that the holder is not needed. */
export function advise({ ranking, accounts, pools, isClosed, place, readAt }: Known): Advice {
  const broken = pools.filter((pool) => unreadableIn(pool).length > 0).map(({ metadata }) => metadata.name);
  if (ranking.because && isClosed && broken.length > 0)
    return saying(
      "unknown",
      `Nothing is ranked: Karpenter consolidates no node, because it cannot read a budget's schedule (${broken.join(", ")}). Correct it, and look again.`,
    );
  if (ranking.because && isClosed)
    return saying(
      "nothing",
      "You do not need the holder now: no NodePool lets Karpenter consolidate in the next seven days.",
    );
  if (ranking.because) return withoutRanking(ranking.because, accounts, readAt);
  const [best] = ranking.candidates.filter(({ open }) => open === 0);
  const { per } = ranking;
  if (!best?.applies || best.saves < least)
    return saying("nothing", `You do not need the holder: no setting that was tried saves anything ${per}.`);
  const figures = describe(best);
  if (best.applies.by === "nodepool")
    return {
      verdict: "karpenter",
      because: `You do not need the holder: Karpenter's own ${best.name} saves most ${per}: ${figures}.`,
      commands: patches(best.applies, pools),
    };
  return {
    verdict: "holder",
    because: `${best.name} saves most ${per}: ${figures}.`,
    commands: starts(best.applies, place),
  };
}

/** Advice without a command. */
const saying = (verdict: Advice["verdict"], because: string): Advice => ({ verdict, because, commands: [] });

const describe = ({ saves, launches, evictions, nodeHours, money }: Candidate): string =>
  `${launches.toFixed(0)} launches and ${evictions.toFixed(0)} evictions fewer for ${nodeHours.toFixed(1)} node-hours more, ` +
  `together worth ${saves.toFixed(1)} node-hours${money === undefined ? "" : ` (${money.toFixed(2)} at your prices)`}`;

/** In less than a day, that Karpenter removed nothing shows nothing. */
const longEnough = hours(24);

/** Without a ranking, what is known may still be enough: where Karpenter removes nothing, nothing is to be held. */
function withoutRanking(because: string, accounts: readonly Account[], readAt: Date): Advice {
  const known = accounts.filter(({ removed }) => removed !== undefined);
  const isLong = ({ from, until = readAt }: Account) =>
    from !== undefined && after(from, longEnough) <= until;
  const isQuiet = known.some(isLong) && known.every(({ removed }) => removed === 0);
  if (!isQuiet) return saying("unknown", `Nothing is ranked: ${because}.`);
  return saying(
    "nothing",
    "You do not need the holder, by what could be read: Karpenter removed no node in that time.",
  );
}

const patches = (
  { isFor, disruption }: Extract<Applies, { by: "nodepool" }>,
  pools: readonly NodePool[],
): readonly string[] => pools.filter(isFor).map((pool) => patchOf(pool, disruption(pool)));

function starts(
  { settings }: Extract<Applies, { by: "holder" }>,
  { cluster, flags, isAws }: Place,
): readonly string[] {
  const asFlags = Object.entries(settings).map(([name, value]) => [flagOf(name), value]);
  const asContext = Object.entries({ cluster, ...settings }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  const words = (all: readonly string[]) => all.map(quoted).join(" ");
  return [
    `npx karpenter-node-holder run ${words([...flags, ...asFlags.flat()])}   # with --observe it changes nothing`,
    ...(isAws ? [`npx cdk deploy ${words(asContext)} -c alarms=none   # or -c alarmTopicArn=ARN`] : []),
  ];
}
