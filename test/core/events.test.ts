import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { detailOf, type HoldEvent, withChange } from "../../lambda/core/events.ts";
import { type HoldChange, noFigures, type ScopeRecord } from "../../lambda/core/record.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aHold, aPastHold, aRecord, aRequest, someRules } from "../support/builders.ts";
import { at } from "./plans.ts";

const change = (before: ScopeRecord, record: ScopeRecord, past?: HoldChange["past"]): HoldChange => ({
  before,
  record,
  past,
});
const eventsOf = (...changes: readonly HoldChange[]) =>
  changes.reduce(withChange, [] as readonly HoldEvent[]);
const withFigures = (figures: Partial<typeof noFigures>) =>
  aHeldRecord({ figures: { ...noFigures, ...figures } });

const none = aRecord();
const first = aHeldRecord();
const longer = withFigures({ extensions: 1 });
const capped = withFigures({ extensions: 1, capped: true });
const ended = aRecord({ hold: aHold({ ended: { at: at(20), because: "the hold expired" } }) });
const second = aHeldRecord({ hold: aHold({ id: holdId(2) }) });

it.each<[what: string, changes: readonly HoldChange[], events: readonly string[]]>([
  ["a hold starts", [change(none, first)], ["Hold Started 1"]],
  ["it ends later than before", [change(first, longer)], ["Hold Extended 1"]],
  ["its nodes are counted", [change(first, withFigures({ nodes: 3 }))], []],
  ["it reaches its cap", [change(first, capped)], ["Hold Capped 1"]],
  ["it stays at its cap", [change(capped, withFigures({ extensions: 1, capped: true, nodes: 2 }))], []],
  ["it ends, and its marks are still being removed", [change(first, ended)], []],
  ["it is closed", [change(ended, none, aPastHold())], ["Hold Ended 1"]],
  ["it starts capped", [change(none, capped)], ["Hold Started 1", "Hold Capped 1"]],
  ["another takes its place", [change(ended, second, aPastHold())], ["Hold Ended 1", "Hold Started 2"]],
  [
    "it is extended twice at once",
    [change(first, longer), change(longer, withFigures({ extensions: 2 }))],
    ["Hold Extended 1"],
  ],
])("what is sent when %s", (_, changes, events) => {
  const ids = [holdId(1), holdId(2)];
  expect(eventsOf(...changes).map(({ type, holdId: id }) => `${type} ${ids.indexOf(id) + 1}`)).toEqual(
    events,
  );
});

describe("what an event says", () => {
  it("is the latest state of its hold, so that a start counts the nodes marked at once", () => {
    const requests = [aRequest(), aRequest({ name: "over", releasedAt: at(0) })];
    const ofAuto = { superfluous: minutes(9), letGo: 2, spared: 1, evictionsSpared: 4 };
    const latest = { ...withFigures({ launches: { default: 1 }, nodes: 7, ...ofAuto }), requests };
    const [started] = eventsOf(change(none, first), change(first, latest));
    expect(started && detailOf(started, someRules())).toEqual({
      version: 1,
      cluster: "prod",
      mode: "hold",
      scope: "cluster",
      holdId: holdId(1),
      startedAt: at(0),
      startedBecause: "a node was launched in NodePool default",
      until: at(60),
      ...{ launches: { default: 1 }, extensions: 0, nodes: 7, capped: false },
      ...ofAuto,
      requests: [{ name: "load-test", cause: "person", reason: "load test", until: at(60) }],
    });
  });

  it("is at the end what history keeps of it", () => {
    const observed = { removed: 2, evicted: 9, uncounted: 0, nodeTime: 1, relaunched: 0 };
    const past = aPastHold({ requests: ["load test"], observed });
    const [event] = eventsOf(change(ended, none, past));
    expect(event && detailOf(event, someRules({ mode: "observe" }))).toMatchObject({
      version: 1,
      mode: "observe",
      holdId: holdId(1),
      startedAt: at(0),
      endedAt: at(20),
      endedBecause: "the hold expired",
      requests: ["load test"],
      nodes: 3,
      observed,
    });
  });
});
