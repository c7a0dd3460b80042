import { describe, expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { nothingObserved } from "../../lambda/core/observed.ts";
import { type Hold, noFigures, type ScopeRecord } from "../../lambda/core/record.ts";
import { changesOf } from "../../local/holder/hold-changes.ts";
import { Timeline } from "../../local/holder/timeline.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aHeldRecord, aHold, aRecord, aRequest, someRules } from "../support/builders.ts";

const rules = someRules();
const held = aHeldRecord();
const launchedLater = aHeldRecord({ launchHold: { startedAt: noon, lastLaunchAt: after(noon, minutes(5)) } });
const asked = aHeldRecord({ requests: [aRequest()], figures: { ...noFigures, requests: ["load test"] } });
const ended = aHeldRecord({ hold: aHold({ ended: { at: noon, because: "the hold expired" } }) });
const replaced = aHeldRecord({ hold: aHold({ id: holdId(2) }) });
const observing = (removed: number) =>
  aHeldRecord({ figures: { ...noFigures, observed: { ...nothingObserved, removed, evicted: 3 } } });
const changes = (before: ScopeRecord | undefined, now: ScopeRecord) => changesOf(before, now, rules);

describe("what a record's change means", () => {
  it.each<[string, ScopeRecord | undefined, ScopeRecord, string[]]>([
    ["a start", undefined, held, ["hold started"]],
    ["a start in a record from before", aRecord(), held, ["hold started"]],
    [
      "a hold from before, whose marks are still being removed",
      undefined,
      ended,
      ["hold started", "hold releasing"],
    ],
    ["a later launch", held, launchedLater, ["hold extended"]],
    ["a request that lasts longer", held, asked, ["hold caused", "hold extended"]],
    ["its release", asked, held, ["hold extended"]],
    ["a count of nodes", held, aHeldRecord({ figures: { ...noFigures, nodes: 7 } }), []],
    ["a node that went while it was only observed", observing(0), observing(2), ["note"]],
    ["a launch meanwhile", observing(2), observing(2), []],
    ["an end", held, ended, ["hold releasing"]],
    ["the last mark removed", ended, aRecord(), ["hold ended"]],
    ["a hold in another's place", ended, replaced, ["hold ended", "hold started"]],
    ["a record without a hold", aRecord(), aRecord({ requests: [] }), []],
  ])("%s", (_, before, now, expected) => {
    expect(changes(before, now).map(({ kind }) => kind)).toEqual(expected);
  });

  it("says until when a hold lasts: by its launches and what was asked for, whichever is longer", () => {
    const until = (record: ScopeRecord) => changes(undefined, record)[0];
    expect(until(held)).toMatchObject({ until: after(noon, rules.hold) });
    expect(until(asked)).toMatchObject({ until: aRequest().until });
  });

  it("names why a hold ended, also where only the next one shows it", () => {
    const ends = (about: Partial<Hold>) => changes(aHeldRecord({ hold: aHold(about) }), replaced)[0];
    expect([ends({ ended: { at: noon, because: "the hold expired" } }), ends({})]).toMatchObject([
      { because: "the hold expired" },
      { because: "a new hold took its place" },
    ]);
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
