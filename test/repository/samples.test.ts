import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { detailOf } from "../../lambda/core/events.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { nodeEventOf } from "../../lambda/core/node-events.ts";
import { describeObserved, nothingObserved, sumObserved } from "../../lambda/core/observed.ts";
import { lookAtNodes } from "../../lambda/core/pays.ts";
import { readSettings } from "../../lambda/settings.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { at, launchAt, planAt } from "../core/plans.ts";
import { aBound, aRoom, waiting } from "../core/rooms.ts";
import { aNode, aPastHold } from "../support/builders.ts";

/** The sample in a section of a page. */
function sampleIn(page: string, heading: string): string {
  const [, section = ""] = readFileSync(page, "utf8").split(`\n## ${heading}\n`);
  const [, sample] = section.match(/```\w+\n(.*?)\n```/s) ?? [];
  return sample ?? "no sample";
}
const inOneLine = (text: string): string => text.replaceAll(/\s+/g, " ");
const rules = readSettings({ cluster: "prod" });

describe("a document shows what the holder writes:", () => {
  it("what it observed", () => {
    const all = { ...nothingObserved, removed: 7, evicted: 41, nodeTime: minutes(72), relaunched: 3 };
    const first = aPastHold({ nodes: 9, observed: all });
    const [startedAt, endedAt] = [after(first.endedAt, minutes(1)), after(first.endedAt, minutes(15))];
    const sum = sumObserved([first, aPastHold({ startedAt, endedAt, observed: nothingObserved })]);
    const sample = inOneLine(sampleIn("docs/settings.md", "Observe"));
    expect(`With mode=hold it ${sum && describeObserved(sum)}.`).toBe(sample);
  });

  it("an event on the bus", () => {
    const sample = JSON.parse(sampleIn("docs/operating.md", "Events"));
    const { startedAt, startedBecause, until } = sample.detail;
    const times = { startedAt: new Date(startedAt), endedAt: new Date(until) };
    const past = aPastHold({ ...times, startedBecause, launches: { batch: 7 }, extensions: 3, nodes: 12 });
    const ended = { type: "Hold Ended", scope: "cluster", holdId: sample.detail.holdId, past } as const;
    const written = { source: holderName, "detail-type": ended.type, detail: detailOf(ended, rules) };
    expect(JSON.parse(JSON.stringify(written))).toEqual(sample);
  });

  it("the Events on a node", () => {
    const plan = planAt(5, { launches: [launchAt(5, { nodePool: "batch" })], rules });
    const mark = { do: "mark", node: aNode("b"), holdId: holdId(1), scope: "cluster" } as const;
    const release = { ...mark, do: "release" } as const;

    const pods = [aBound("a", { requests: { cpu: 7_000 } }), aBound("b", { requests: { cpu: 500 } })];
    const rooms = [aRoom("a"), aRoom("b")];
    const first = lookAtNodes(waiting, rooms, pods, rules, noon);
    const { verdicts } = lookAtNodes(first.account, rooms, pods, rules, at(5));

    const written = [
      nodeEventOf(mark, { plan, rules, now: at(5) }),
      nodeEventOf(release, { plan: { ...plan, verdicts }, rules, now: at(10) }),
    ];
    const shown = sampleIn("docs/operating.md", "Events on nodes").split("\n");
    expect(shown.map((line) => line.split(/ {2,}/))).toEqual(
      written.map(({ reason, message }) => [
        "Normal",
        reason,
        expect.stringMatching(/^\d+m$/),
        holderName,
        message,
      ]),
    );
  });
});
