import type { NodeLife } from "../../cli/advise/lives.ts";
import { replay } from "../../cli/advise/replay.ts";
import { minutes } from "../../lambda/core/duration.ts";
import { defaultSettings, readSettings } from "../../lambda/settings.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import type { Archived, Conditions } from "./archive.ts";
import type { ArmRecord } from "./arm.ts";
import { figuresOf } from "./figures.ts";

/** What the model of `advise` expects of the holder, from the arm without it. */
export type Prediction = Readonly<{ launched: number; nodeMinutes: number }>;

/** Plays the arm without the holder again, as `advise` does with CloudTrail's history, in told time. */
export function predict(
  record: Pick<ArmRecord, "events" | "from" | "to">,
  conditions: Conditions,
): Prediction {
  const told = minutes(1) / conditions.minute;
  const lives = toldLives(record, told);
  const { maxHold, breather } = readSettings({ cluster: "churn", ...defaultSettings });
  const { kept, idle } = replay(lives, {
    hold: conditions.hold * told,
    // The lab's holder has its cap and breather in real time.
    maxHold: maxHold * told,
    breather: breather * told,
    scope: "cluster",
    regretWithin: conditions.hold * told,
    begunBefore: 0,
  });
  const end = (record.to.getTime() - record.from.getTime()) * told;
  const ran = lives.reduce(
    (sum, life) => sum + (life.endedAt?.getTime() ?? end) - life.launchedAt.getTime(),
    0,
  );
  const spared = kept.filter((one) => one.spared).length;
  return { launched: lives.length - spared, nodeMinutes: Math.round((ran + idle) / minutes(1)) };
}

/** A section that puts the model's expectation beside what was measured; none where an arm is missing. */
export function predictedBesideMeasured(archived: readonly Archived[]): readonly string[] {
  const find = (arm: ArmRecord["arm"]) => archived.find(({ record }) => record.arm === arm);
  const [without, holder] = [find("without"), find("holder")];
  if (!without || !holder) return [];
  const { launched, nodeMinutes } = predict(without.record, without.conditions);
  const before = figuresOf(without.record, without.conditions.minute);
  const measured = figuresOf(holder.record, holder.conditions.minute);
  const row = (label: string, ...cells: readonly number[]) => [label, ...cells.map(String)];
  return [
    "## Predicted beside measured",
    "`advise` plays a history without the holder again and works out what a hold would have changed. Given the arm without " +
      "the holder, it expected this of the arm with it:",
    markdownTable(
      ["", "without the holder", "predicted with it", "measured with it"],
      [
        row("nodes launched", before.launched, launched, measured.launched),
        row("node-minutes paid (told)", before.nodeMinutes, nodeMinutes, measured.nodeMinutes),
      ],
      [1, 2, 3],
    ),
    "The model knows launches and ends only: not that nodes kept through a hold also keep pods from being packed anew, nor " +
      "the seconds until Karpenter acts after a release. Either can make nodes live longer than predicted.",
  ];
}

/** Nodes from when they joined until they were gone, in told time since the arm began. */
function toldLives({ events, from }: Pick<ArmRecord, "events" | "from">, told: number): readonly NodeLife[] {
  const toldAt = (at: Date) => new Date((at.getTime() - from.getTime()) * told);
  const gone = new Map(
    events.flatMap((event) => (event.kind === "node gone" ? [[event.node, event.at] as const] : [])),
  );
  return events.flatMap((event): NodeLife[] => {
    if (event.kind !== "node joined") return [];
    const end = gone.get(event.node);
    return [
      {
        instance: event.node,
        nodePool: event.nodePool,
        launchedAt: toldAt(event.at),
        ...(end && { endedAt: toldAt(end), endedBy: "karpenter" }),
      },
    ];
  });
}
