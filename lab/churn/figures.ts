import { eventsOf, type TimelineEvent } from "../../report/timeline/events.ts";
import type { ArmRecord } from "./arm.ts";

/** What churn costs, counted from one arm's record; minutes are told minutes. */
export type Figures = Readonly<{
  launched: number;
  shortLived: number;
  servicePodsEvicted: number;
  jobsBegunAgain: number;
  imagesPulled: number;
  nodeMinutes: number;
  mostNodes: number;
}>;

/** A figure beside what it was without the holder, and their difference as a share, where there is one. */
export function changeOf(figure: number, without: number): string {
  const both = `${figure} instead of ${without}`;
  if (without === 0) return both;
  const percent = Math.round((figure / without - 1) * 100);
  return `${both} (${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${Math.abs(percent)} %)`;
}

/** A node's time from when it joined until it was gone, or until the end. */
type Life = Readonly<{ from: number; to: number; isOver: boolean }>;

const short = 5;

/** Counts one arm. */
export function figuresOf({ events, to }: Pick<ArmRecord, "events" | "to">, minute: number): Figures {
  const lives = livesOf(events, to);
  const evicted = eventsOf(events, "pod evicted").map(({ pod }) => pod);
  const isJob = (pod: string) => pod.startsWith("job-");
  return {
    launched: lives.length,
    shortLived: lives.filter((life) => life.isOver && life.to - life.from < short * minute).length,
    servicePodsEvicted: evicted.filter((pod) => !isJob(pod)).length,
    jobsBegunAgain: evicted.filter(isJob).length,
    imagesPulled: eventsOf(events, "image pulled").length,
    nodeMinutes: Math.round(lives.reduce((sum, life) => sum + life.to - life.from, 0) / minute),
    mostNodes: mostAtOnce(lives),
  };
}

function livesOf(events: readonly TimelineEvent[], end: Date): Life[] {
  const gone = new Map(eventsOf(events, "node gone").map(({ node, at }) => [node, at.getTime()]));
  return eventsOf(events, "node joined").map(({ node, at }) => {
    const to = gone.get(node);
    return { from: at.getTime(), to: to ?? end.getTime(), isOver: to !== undefined };
  });
}

function mostAtOnce(lives: readonly Life[]): number {
  const countAt = (moment: number) => lives.filter(({ from, to }) => from <= moment && moment < to).length;
  return Math.max(0, ...lives.map(({ from }) => countAt(from)));
}
