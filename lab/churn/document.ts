import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { formatDuration, minutes } from "../../lambda/core/duration.ts";
import { version } from "../../lambda/version.ts";
import { drawTimeline } from "../../report/timeline/draw-timeline.ts";
import { readTimeline } from "../../report/timeline/timeline.ts";
import { markdownTable } from "../../scripts/markdown-table.ts";
import { newestKarpenter } from "../../test/real/engines/build.ts";
import type { Archived, Conditions } from "./archive.ts";
import { type Arm, arms } from "./arm.ts";
import { changeOf, type Figures, figuresOf } from "./figures.ts";
import { predictedBesideMeasured } from "./prediction.ts";

const root = resolve(import.meta.dirname, "../..");

const rows: readonly (readonly [label: string, figure: keyof Figures])[] = [
  ["nodes launched", "launched"],
  ["nodes that lived under five told minutes", "shortLived"],
  ["service pods evicted", "servicePodsEvicted"],
  ["jobs evicted, which began again", "jobsBegunAgain"],
  ["images pulled anew", "imagesPulled"],
  ["most nodes at once", "mostNodes"],
  ["node-minutes paid (told)", "nodeMinutes"],
];

/** Draws every arm's timeline and writes the page with the figures into a folder; all numbers come from the records. */
export function writeDocument(archived: readonly Archived[], folder: string): void {
  const images = join(folder, "images");
  mkdirSync(images, { recursive: true });
  const lanes = archived.map(
    ({ record }) => record.events.filter(({ kind }) => kind === "node joined").length,
  );
  // One height for all: then the pictures can be compared.
  const laneHeight = Math.min(16, Math.max(5, 640 / Math.max(1, ...lanes)));
  for (const one of archived) writeFileSync(join(images, imageOf(one.record.arm)), draw(one, laneHeight));
  writeFileSync(join(folder, "churn.md"), page(archived));
}

const imageOf = (arm: Arm): string => `churn-${arm}.svg`;

function draw({ record, conditions }: Archived, laneHeight: number): string {
  const { from, to, events, arm } = record;
  const figures = figuresOf(record, conditions.minute);
  const subtitle =
    `${figures.launched} nodes launched, ${figures.servicePodsEvicted} service pods and ` +
    `${figures.jobsBegunAgain} jobs evicted, ${figures.imagesPulled} images pulled, ` +
    `${figures.nodeMinutes} node-minutes`;
  const title = `The same bursts ${arms[arm]}`;
  const clock = { kind: "elapsed", minute: conditions.minute } as const;
  return `${drawTimeline(readTimeline(events, { from, to }), { title, subtitle, clock, laneHeight })}\n`;
}

function page(archived: readonly Archived[]): string {
  const [first] = archived;
  if (!first) return "";
  const all = archived.map(({ record, conditions }) => figuresOf(record, conditions.minute));
  const heads = archived.map(({ record }) => arms[record.arm]);
  const table = rows.map(([label, figure]) => [label, ...all.map((one) => String(one[figure]))]);
  return `${[
    "# The churn lab",
    `The same bursty work on real Karpenter, ${heads.join(", ")}. This page and its pictures are written by \`npm run churn\`; nobody edits the numbers.`,
    conditionsOf(archived),
    markdownTable(["", ...heads], table, [1, 2, 3]),
    ...comparison(archived, all),
    ...predictedBesideMeasured(archived),
    ...archived.map(({ record }) => `![${arms[record.arm]}](images/${imageOf(record.arm)})`),
    limits(first.conditions),
    provenance(archived),
  ].join("\n\n")}\n`;
}

function conditionsOf(archived: readonly Archived[]): string {
  const { minute = 1, hold = 0, jobs = 0, minutes: told = 0 } = archived[0]?.conditions ?? {};
  const unfinished = archived.reduce((sum, { record }) => sum + record.unfinished, 0);
  const recordedHold = formatDuration((hold / minute) * minutes(1));
  return (
    `Five services that always run and ${jobs} jobs that come in bursts, with quiet times longer than a hold between and ` +
    `after them. A told minute lasts ${formatDuration(minute)}: an arm tells ${told} minutes, the hold and \`consolidateAfter\` ` +
    `are ${recordedHold} (${formatDuration(hold)} of real time); the other arms have \`consolidateAfter: 0s\`. ` +
    `${unfinished === 0 ? "All jobs were done in every arm." : `${unfinished} jobs were not done at the end.`}`
  );
}

/** What the holder saved and cost beside doing without, in the table's own figures. */
function comparison(archived: readonly Archived[], all: readonly Figures[]): string[] {
  const figuresFor = (arm: Arm) => all[archived.findIndex(({ record }) => record.arm === arm)];
  const without = figuresFor("without");
  if (!without) return [];
  return (["holder", "consolidate-after"] as const).flatMap((arm) => {
    const figures = figuresFor(arm);
    if (!figures) return [];
    const change = (figure: keyof Figures) => changeOf(figures[figure], without[figure]);
    return [
      `**${arms[arm][0]?.toUpperCase()}${arms[arm].slice(1)}**: nodes launched ${change("launched")}, service pods evicted ` +
        `${change("servicePodsEvicted")}, jobs that began again ${change("jobsBegunAgain")}, images pulled ${change("imagesPulled")}. ` +
        `What it costs: node-minutes ${change("nodeMinutes")}.`,
    ];
  });
}

const limits = ({ minute }: Conditions): string =>
  [
    "## What this is not\n",
    `- One workload, one seed, one run an arm: another cluster's figures will differ. \`npm run churn -- --seed 8\` tries other bursts.`,
    "- The bursts come back within a hold: that is what a holder is for. Where they do not, it only costs.",
    `- Only the workload and the hold are scaled. Karpenter looks every 10 s and waits 15 s before it acts, which here is ${formatDuration((25_000 / minute) * minutes(1))} of told time: therefore hardly a node lives under five told minutes here. Nodes of the kwok provider are ready within seconds, and real ones take a minute or two.`,
    "- Nodes and pods are simulated (kwok); Karpenter, scheduler, API server and evictions are real. A job's pod has no owner, because the simulated kubelet ends pods of Jobs the moment they start; a job that is evicted is begun again from its start by the lab.",
    "- An image counts as pulled when a node runs its first pod of it. Nothing is really pulled.",
  ].join("\n");

function provenance(archived: readonly Archived[]): string {
  const [first] = archived;
  const {
    seed,
    minutes: told,
    minute,
    hold,
  } = first?.conditions ?? { seed: 0, minutes: 0, minute: 1, hold: 0 };
  const recordedHold = formatDuration((hold / minute) * minutes(1));
  const command = `npm run churn -- --minutes ${told} --scale ${formatDuration(minute)} --hold ${recordedHold} --seed ${seed}`;
  const goMod = readFileSync(join(root, "test/real/engines/cluster/go.mod"), "utf8");
  const versionOf = (module: string) => new RegExp(`${module} v(\\S+)`).exec(goMod)?.[1] ?? "unknown";
  const began = new Date(Math.min(...archived.map(({ ranAt }) => ranAt.getTime())));
  const [cpu] = cpus();
  const busy = archived.map(({ busy: load }) => load.toFixed(1)).join(", ");
  const versions =
    `Karpenter ${newestKarpenter}, Kubernetes ${versionOf("k8s.io/kubernetes")}, ` +
    `kwok ${versionOf("sigs.k8s.io/kwok")}, holder ${version}, Node ${process.versions.node}`;
  const machine =
    `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ` +
    `shared: load average ${busy} (15 min, at the end of each arm)`;
  const table = markdownTable(
    ["", ""],
    [
      ["command", `\`${command}\``],
      ["date", `${began.toISOString().slice(0, 16).replace("T", " ")} UTC`],
      ["versions", versions],
      ["machine", machine],
    ],
  );
  return `## How it was measured\n\n${table}`;
}
