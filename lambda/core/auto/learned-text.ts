import { type Duration, seconds } from "../duration.ts";
import type { Gap, Idle, Learned } from "./learned.ts";

/*
 * What was learned as one short line for the record: version, debt, what is idle, and the gaps, oldest first.
 * "1 debt=0.5 idle=2026-11-22T08:00:00.000Z/6/180/busy 6@240 6@0-180 2@3600+": 6 nodes that were needed again after 240 s,
 * 6 after at most 180 s, 2 that were not needed for at least 3600 s.
 */
const version = "1";
const debtPattern = /^debt=(\d{1,12}(?:\.\d{1,2})?)$/;
const idlePattern = /^idle=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\/(\d{1,7})\/(\d{1,9})(\/busy)?$/;
const gapPattern = /^(\d{1,7})@(\d{1,12})(?:(\+)|-(\d{1,12}))?$/;

export function writeLearned({ gaps, debt, idle }: Learned): string {
  return [version, `debt=${debt}`, ...(idle ? [writeIdle(idle)] : []), ...gaps.map(writeGap)].join(" ");
}

/** Reads what `writeLearned` wrote; undefined for any other text. */
export function readLearned(text: string): Learned | undefined {
  const [first, debtText = "", ...rest] = text.split(" ");
  const debt = debtPattern.exec(debtText)?.[1];
  if (first !== version || debt === undefined) return undefined;
  const idle = readIdle(rest[0] ?? "");
  const gaps = (idle ? rest.slice(1) : rest).map(readGap);
  if (!gaps.every((gap) => gap !== undefined)) return undefined;
  return { gaps, debt: Number(debt), ...(idle && { idle }) };
}

const inSeconds = (duration: Duration): number => Math.round(duration / seconds(1));

const writeIdle = ({ since, nodes, length, busy }: Idle): string =>
  `idle=${since.toISOString()}/${nodes}/${inSeconds(length)}${busy ? "/busy" : ""}`;

function readIdle(text: string): Idle | undefined {
  const [, since = "", nodes, length, busy] = idlePattern.exec(text) ?? [];
  if (Number.isNaN(Date.parse(since))) return undefined;
  return {
    since: new Date(since),
    nodes: Number(nodes),
    length: seconds(Number(length)),
    ...(busy && { busy: true as const }),
  };
}

function writeGap({ nodes, atLeast, atMost }: Gap): string {
  const begin = `${nodes}@${inSeconds(atLeast)}`;
  if (atMost === undefined) return `${begin}+`;
  return atMost === atLeast ? begin : `${begin}-${inSeconds(atMost)}`;
}

function readGap(text: string): Gap | undefined {
  const [, nodes, least, open, most] = gapPattern.exec(text) ?? [];
  if (nodes === undefined || Number(most ?? least) < Number(least)) return undefined;
  const gap = { nodes: Number(nodes), atLeast: seconds(Number(least)) };
  return open ? gap : { ...gap, atMost: seconds(Number(most ?? least)) };
}
