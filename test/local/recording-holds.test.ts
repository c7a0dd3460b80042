import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { changesOf, RecordingHolds } from "../../local/holder/recording-holds.ts";
import { Timeline } from "../../local/holder/timeline.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { MemoryTable } from "../../simulator/memory-table.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../support/builders.ts";

const hold = aHold();
const kinds = (...args: [typeof hold | undefined, typeof hold | undefined]) =>
  changesOf("cluster", ...args).map(({ kind }) => kind);

describe("what a record's change means", () => {
  it.each([
    ["a start", undefined, hold, ["hold started"]],
    ["an extension", hold, aHold({ expiresAt: after(hold.expiresAt, minutes(1)) }), ["hold extended"]],
    [
      "an extension by use",
      hold,
      aHold({ expiresAt: after(hold.expiresAt, minutes(1)), causes: { uses: 1 } }),
      ["hold caused", "hold extended"],
    ],
    ["a wish by hand for a hold that is on", hold, aHold({ causes: { hand: "a test" } }), ["hold caused"]],
    ["the fence", hold, aHold({ state: "releasing", endsBecause: "its time is over" }), ["hold releasing"]],
    ["the end", aHold({ state: "releasing" }), undefined, ["hold ended"]],
    [
      "a hold in another's place",
      aHold({ state: "releasing" }),
      aHold({ id: holdId(2) }),
      ["hold ended", "hold started"],
    ],
    ["a count of nodes", hold, aHold({ nodes: 7 }), []],
  ])("%s", (_, before, now, expected) => {
    expect(kinds(before, now)).toEqual(expected);
  });

  it("with hold=auto says how long it lasts, and why", () => {
    const length = {
      length: minutes(3),
      action: "learned",
      because: "83 % of the pauses were shorter",
    } as const;
    const lasts = "it lasts 3m: 83 % of the pauses were shorter";
    const learned = aHold({ length });
    expect(changesOf("cluster", undefined, learned)).toMatchObject([
      { because: `${hold.startedBecause}; ${lasts}` },
    ]);
    expect(changesOf("cluster", hold, learned)).toMatchObject([
      { kind: "hold caused", because: expect.stringContaining(lasts) },
    ]);
    expect(kinds(learned, learned)).toEqual([]);
  });

  it("says at the end what the hold cost and spared", () => {
    const over = aHold({ state: "releasing", endsBecause: "it expired", idleTime: minutes(72), spared: 4 });
    const because = "it expired (idle 1h12m of node time, 4 relaunches spared)";
    expect(changesOf("cluster", over, undefined)).toMatchObject([{ because }]);
  });

  it("names why a hold ended, also where only the next one shows it", () => {
    const ends = (endsBecause?: string) =>
      changesOf("cluster", aHold({ ...(endsBecause && { endsBecause }) }), aHold({ id: holdId(2) }))[0];
    expect([ends("it expired"), ends()]).toMatchObject([
      { because: "it expired" },
      { because: "a new hold took its place" },
    ]);
  });

  it("is reported only when the write was done", async () => {
    const clock = new VirtualClock();
    const timeline = new Timeline(() => clock.now());
    const holds = new RecordingHolds(new StoredHolds(new MemoryTable(), new VirtualClock()), timeline);
    await holds.write(aRecord({ hold }));
    await holds.write(aRecord({ hold: aHold({ id: holdId(2) }) }));
    expect(timeline.events).toMatchObject([{ kind: "hold started", holdId: holdId(1), at: clock.now() }]);
  });
});

it("keeps the later half of a timeline that grows too long", () => {
  const seen: string[] = [];
  const timeline = new Timeline(() => noon);
  const stop = timeline.follow(({ kind }) => seen.push(kind));
  for (let n = 0; n < 10_000; n++) timeline.record({ kind: "note", text: `${n}` });
  expect(timeline.events).toHaveLength(10_000);
  stop();
  timeline.record({ kind: "note", text: "last" });
  expect(timeline.events).toHaveLength(5_000);
  expect(timeline.events.at(-1)).toEqual({ kind: "note", text: "last", at: noon });
  expect(seen).toHaveLength(10_000);
});
