import { beforeEach, describe, expect, it } from "vitest";
import { drawFrame, formatState } from "../../local/page/frame.ts";
import type { NodeVerdict } from "../../report/timeline/events.ts";
import { ReportedHold } from "./reported-hold.ts";

let reported: ReportedHold;
let record: ReportedHold["timeline"]["record"];
beforeEach(() => {
  reported = new ReportedHold();
  record = reported.timeline.record.bind(reported.timeline);
});

type Recorded = Parameters<ReportedHold["timeline"]["record"]>[0];
const noon = new Date("2026-01-01T12:00:00Z");
const startHold = (holdId: string, scope: string) =>
  record({ kind: "hold started", scope, holdId, because: "x", until: noon });
/** What the page shows now. */
const draw = (about: Partial<Parameters<typeof drawFrame>[1]> = {}) =>
  drawFrame(reported.timeline.events, { now: reported.clock.now(), ...about });
const state = (about?: Parameters<typeof formatState>[1]) => formatState(reported.timeline.events, about);
/** The texts of a table's cells. */
const cellsIn = (table: string) => [...table.matchAll(/<td[^>]*>([^<]*)/g)].map(([, text]) => text);

describe("what the page shows", () => {
  it("dates its times once it shows more than a day", () => {
    reported.hold(1);
    reported.pass(3 * 86_400);
    reported.release(1);
    expect(formatState([])).toBe("The holder is not at work yet: its log says why.");
    expect(draw().tables).toMatch(/>01-01 12:00<.*>01-04 12:02</);
  });

  it("shows what is held now, how long that still is, why, and what is never held", () => {
    reported.hold(3);
    record({ kind: "hold caused", scope: "cluster", holdId: "h1", because: "load test" });
    reported.exclude("node-2");
    reported.handOver("node-3");
    reported.pass(10);
    const { held, tables } = draw();
    expect(cellsIn(held)).toEqual(["the cluster", "12:02:40 UTC", "20 s", "load test", "node-1, node-2"]);
    expect(state()).toBe("Karpenter may not disrupt the cluster until 12:02:40 UTC.");
    expect(held).toContain("Held by their users: node-3.");
    expect(held).toContain("Never held, by their label: node-2.");
    expect(tables).toContain("node-3 left to its user&#39;s annotation");
  });

  it("shows which nodes no longer pay, when each goes and why, by the last look at each scope, and what was paid", () => {
    const paid = { superfluous: 150_000, letGo: 1, spared: 1, evictionsSpared: 2 };
    const look = (where: string, ...verdicts: readonly NodeVerdict[]) =>
      record({ kind: "look", where, verdicts, paid });
    reported.hold(3);
    look("nodepool/web", { name: "gone", isLetGo: true, because: "old" });
    look("cluster", { name: "c", isLetGo: false, because: "left alone for another 34m" });
    const dueAt = new Date(reported.now + 60_000);
    look(
      "nodepool/web",
      { name: "a", isLetGo: true, because: "superfluous for 6m; its removal is worth 5m: 5m" },
      { name: "b", isLetGo: false, dueAt, because: "superfluous for 1m" },
    );
    expect(reported.timeline.events.filter(({ kind }) => kind === "look")).toHaveLength(2);
    const [, going = ""] = draw().held.split("Nodes that no longer pay");
    expect(cellsIn(going)).toEqual([
      ...["c", "–", "left alone for another 34m"],
      ...["a", "now", "superfluous for 6m; its removal is worth 5m: 5m"],
      ...["b", "12:03:10 UTC", "superfluous for 1m"],
    ]);
    // Of the scope that is held.
    expect(going).toContain(
      "So far: superfluous nodes were held for 2 min 30 s of node time; 1 launch and up to 2 evictions spared, 1 node let go.",
    );
    record({ kind: "hold ended", scope: "cluster", holdId: "h1", because: "it expired" });
    expect(draw().held).not.toContain("So far");
  });

  it.each([
    [330, "12:02:40 UTC (17:32:40 local time)", ["12:02:30", "17:32:30"]],
    [-720, "12:02:40 UTC (00:02:40 local time)", ["12:02:30", "00:02:30"]],
    [0, "12:02:40 UTC", ["12:02:30"]],
  ])("shows its times also as the reader's, %i minutes ahead of UTC", (offset, until, labels) => {
    reported.hold(3);
    const { svg, held } = draw({ offset });
    expect(held).toContain(`>${until}<`);
    expect(state({ offset })).toContain(`until ${until}.`);
    expect(svg.match(/>\d\d:[03]2:30</g)).toEqual(labels.map((label) => `>${label}<`));
  });

  const started = (scope: string, until = noon) =>
    ({ kind: "hold started", scope, because: "x", until, holdId: "h1" }) as const;
  const releasing = { kind: "hold releasing", because: "the hold expired", holdId: "h1" } as const;
  it.each<[sentence: string, events: readonly Recorded[], observes?: boolean]>([
    ["Karpenter may not disrupt nodepool/web until 12:00:00 UTC.", [started("nodepool/web")]],
    // It is not within a day.
    [
      "Karpenter may not disrupt the cluster until 01-08 00:00 UTC.",
      [started("cluster", new Date("2026-01-08"))],
    ],
    [
      "The hold of the cluster ends: the hold expired.",
      [started("cluster"), { ...releasing, scope: "cluster" }],
    ],
    [
      "Nothing is held in nodepool/web: by hand.",
      [
        started("nodepool/web"),
        { ...releasing, kind: "hold ended", scope: "nodepool/web", because: "by hand" },
      ],
    ],
    [
      "Nodes with an orphaned mark: 1. The next sweep removes it.",
      [
        { kind: "node joined", node: "a", nodePool: "web" },
        { kind: "node marked", node: "a", holdId: "lost" },
      ],
    ],
    ["Nothing would be held.", [{ kind: "sweep" }], true],
    [
      "With mode=hold, Karpenter could not disrupt the cluster until 12:00:00 UTC.",
      [started("cluster")],
      true,
    ],
    [
      "Nothing would be held in the cluster: the hold expired.",
      [started("cluster"), { ...releasing, scope: "cluster" }],
      true,
    ],
  ])("says in a sentence what is held: %s", (sentence, events, observes = false) => {
    for (const event of events) record(event);
    expect(state({ observes })).toBe(sentence);
  });

  it("names each scope that is held, also when another hold has ended since, and at most three", () => {
    for (const name of ["a", "b", "c", "d", "e"]) startHold(name, `nodepool/${name}`);
    record({ kind: "hold ended", scope: "nodepool/a", holdId: "a", because: "x" });
    expect(state()).toMatch(
      /^Karpenter may not disrupt nodepool\/b .*nodepool\/d until \S+ UTC\. And 1 more\.$/,
    );
  });

  it("counts every node and knows its hold, however many events there were before", () => {
    startHold("h1", "cluster");
    for (let i = 0; i < 6_000; i++) {
      record({ kind: "node joined", node: `n${i}`, nodePool: "web" });
      record({ kind: "node marked", node: `n${i}`, holdId: "h1" });
    }
    for (let i = 0; i < 20_000; i++) record({ kind: "sweep" });
    expect(draw().held).toContain("and 5990 more");
    expect(state()).toMatch(/^Karpenter may not disrupt the cluster/);
    expect(reported.timeline.events.length).toBeLessThan(30_000);
  });

  it.each([
    ["the first event on, with a minute at least", 0, undefined, "12:00:00 to 12:01:00"],
    ["the first event on", 240, undefined, "12:01:00 to 12:05:00"],
    ["where its reader wants it", 240, 120, "12:03:00 to 12:05:00"],
    ["the first event on, when its reader wants more", 240, 3_600, "12:01:00 to 12:05:00"],
  ])("shows the time from %s", (_, seconds, last, shown) => {
    reported.pass(60);
    record({ kind: "note", text: "first" });
    reported.pass(seconds);
    const { svg } = draw(last ? { from: new Date(reported.now - last * 1_000) } : {});
    const times = [...svg.matchAll(/>(12:\d\d:\d\d)</g)].map(([, time]) => time);
    expect(`${times[0]} to ${times.at(-1)}`).toBe(shown);
  });

  it.each([
    ["the end of the present hold", 10, 130 / 140],
    ["the end of a hold later than that by a third of the picture", 9_000, 2 / 3],
    ["nothing but a little, of the end of a past hold", undefined, 1 / 1.05],
  ])("leaves room for %s", (_, seconds, past) => {
    reported.hold(1);
    if (seconds === undefined) reported.release(1);
    const holdId = "h1";
    const until = new Date(reported.now + (seconds ?? 0) * 1_000);
    if (seconds) record({ kind: "hold extended", scope: "cluster", holdId, until });
    const [left, right] = [88, 1_176];
    const [, now] = /class="now"><line x1="([\d.]+)"/.exec(draw().svg) ?? [];
    expect((Number(now) - left) / (right - left)).toBeCloseTo(past, 3);
  });

  it("marks now, and draws what is planned to its right, as wide as its reader wants it", () => {
    reported.hold(1);
    const { svg } = draw({ width: 390 });
    expect(svg).toContain('viewBox="0 0 390 ');
    expect(svg).toMatch(/class="planned"/);
    expect(svg).toMatch(/>now<\/text>/);
    reported.release(1);
    expect(draw({ width: 390 }).svg).not.toMatch(/class="planned"/);
  });
});
