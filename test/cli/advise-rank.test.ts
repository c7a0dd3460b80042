import { describe, expect, it } from "vitest";
import type { History } from "../../cli/advise/history.ts";
import { type Candidate, type Question, rank } from "../../cli/advise/rank.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { at } from "./karpenter-lines.ts";
import { aPool, churned, history, launch, named, question, removal } from "./lived.ts";

/** The time of nodes, in minutes, that this candidate would have cost. */
const minutesOf = (lived: History, name: string) =>
  (named(rank(lived, question()).candidates).get(name)?.nodeHours ?? 0) * 60;

describe("a ranking", () => {
  it("has one price for all: the time of nodes, launches and evictions", () => {
    const { candidates, per } = rank(churned(), question());
    expect(per).toBe("in that time");
    expect(candidates.map(({ name }) => name).toSorted()).toEqual([
      ...[
        "WhenEmpty",
        "as it is",
        "budget 6 of 30 min",
        "budget 6 of 60 min",
        "consolidateAfter 5m",
        "hold=20m",
        "hold=auto",
      ],
    ]);
    for (const { nodeHours, launches, evictions, saves } of candidates)
      expect(saves).toBeCloseTo((5 * launches + 3 * evictions) / 60 - nodeHours);
    const ranked = candidates.filter(({ open }) => open === 0);
    expect(ranked).toEqual(ranked.toSorted((a, b) => b.saves - a.saves));
    const nothing = { nodeHours: 0, launches: 0, evictions: 0, saves: 0 };
    expect(named(candidates).get("as it is")).toMatchObject(nothing);
  });

  it("asks for settings that the holder takes, also where a hold is longer than its usual cap", () => {
    const { candidates } = rank(churned(), question({ holds: [hours(1), hours(4)] }));
    const settings = (name: string) => {
      const applies = named(candidates).get(name)?.applies;
      return applies?.by === "holder" ? applies.settings : undefined;
    };
    expect([settings("hold=1h"), settings("hold=4h")]).toEqual([
      { hold: "1h" },
      { hold: "4h", maxHold: "4h" },
    ]);
  });

  it("changes the order with the price", () => {
    const order = (more: Partial<Question>) => rank(churned(), question(more)).candidates[0]?.name;
    expect(order({ evictionCost: hours(1) })).not.toBe("as it is");
    expect(order({ evictionCost: 0, relaunchCost: minutes(1) })).toBe("as it is");
  });

  const auto = (lived: History, more: Partial<Question> = {}) => {
    const { candidates, unlearned } = rank(lived, question(more));
    return { ...named(candidates).get("hold=auto"), unlearned };
  };
  const minutesIn = ({ nodeHours = 0 }: Partial<Candidate>) => nodeHours * 60;
  const waits = (consolidateAfter: string) => ({ nodePools: [aPool({ consolidateAfter })] });

  it("lets hold=auto keep a node for as long as its removal is worth, from the look that finds it idle", () => {
    const lived = history([launch(0)], [removal(10, { pods: 2 }), removal(10), removal(130)]);
    // 2 × 3m, and nothing for an empty one; the third is after maxHold.
    expect(minutesIn(auto(lived))).toBeCloseTo(6);
    // Karpenter has waited already, and it is idle since the first look.
    expect(minutesIn(auto(lived, waits("10m")))).toBeCloseTo(12 - 10);
  });

  /** Each node is needed again so long after Karpenter has removed it. */
  const pauses = (length: number, times: number, from = 0) => ({
    launches: Array.from({ length: times }, (_, i) => launch(from + i * (length + 10))),
    removals: Array.from({ length: times }, (_, i) => removal(from + i * (length + 10) + 10)),
  });
  const livedOf = ({ launches, removals }: ReturnType<typeof pauses>) => history(launches, removals);

  describe("with hold=auto, a relaunch is", () => {
    it("not waited for where nodes are rarely needed again, so that it costs less than a wait for each price", () => {
      const lived = livedOf(pauses(60, 12));
      const learned = auto(lived);
      const unlearned = auto(lived, waits("3m"));
      expect(learned.unlearned).toBeUndefined();
      expect(unlearned.unlearned).toBe(
        "consolidateAfter 3m of NodePool default hides nodes that are soon needed again",
      );
      expect(minutesIn(learned)).toBeCloseTo(0);
      expect(minutesIn(unlearned)).toBeCloseTo(12 * (5 - 2));
    });

    it("waited for where nodes are needed again soon, so that all launches but the first are spared", () => {
      expect(auto(livedOf(pauses(3, 8)))).toMatchObject({ launches: 6 });
    });

    it("waited for again after some short pauses", () => {
      const [long, short] = [pauses(60, 8), pauses(2, 12, 8 * 70)];
      const all = auto(history([...long.launches, ...short.launches], [...long.removals, ...short.removals]));
      expect(all.launches).toBeGreaterThan(4);
      expect(all.launches).toBeLessThan(11);
    });

    it("waited for where the history has no NodePool of theirs", () => {
      expect(auto(livedOf(pauses(60, 12)), { nodePools: [] }).unlearned).toBe(
        "the consolidateAfter of NodePool default is unknown",
      );
    });
  });

  it("puts hold=auto before consolidateAfter 5m where nodes are rarely needed again", () => {
    const names = rank(livedOf(pauses(60, 3)), question()).candidates.map(({ name }) => name);
    expect(names.indexOf("hold=auto")).toBeLessThan(names.indexOf("consolidateAfter 5m"));
  });

  it("lets a hold change nothing in its first three minutes, because Karpenter goes on with what it began", () => {
    const lived = history([launch(0)], [removal(2), removal(3), removal(30)]);
    expect(minutesOf(lived, "hold=20m")).toBeCloseTo(17);
  });

  it("lets the budget hold underutilized nodes back to the last six minutes of the hour, or of its half, and empty ones not", () => {
    const lived = history([], [removal(10), removal(56), removal(5, { reason: "Empty" })]);
    expect(minutesOf(lived, "budget 6 of 60 min")).toBeCloseTo(44);
    expect(minutesOf(lived, "budget 6 of 30 min")).toBeCloseTo(14);
  });

  it("tries only what a NodePool does not have already", () => {
    const names = (...pools: ReturnType<typeof aPool>[]) =>
      rank(churned(), question({ nodePools: pools })).candidates.map(({ name }) => name);
    expect(names(aPool({ consolidateAfter: "10m", consolidationPolicy: "WhenEmpty" })).toSorted()).toEqual([
      ...["as it is", "hold=20m", "hold=auto"],
    ]);
    expect(names()).not.toContain("WhenEmpty");
  });

  it("ranks a candidate last whose nodes would still be there at the end, because nobody knows its cost", () => {
    const { candidates } = rank(churned(), question());
    // Each removal evicts four pods, the last of them never happens.
    expect(candidates.at(-1)).toMatchObject({ name: "WhenEmpty", open: 1, launches: 19, evictions: 80 });
    const lived = history([launch(20), launch(20), launch(20)], [removal(1), removal(2), removal(3)]);
    const all = rank(lived, question());
    expect(named(all.candidates).get("WhenEmpty")).toMatchObject({ open: 0, launches: 3 });
  });

  it("counts a node that a smaller one replaces by the share that this saves", () => {
    const removals = [1, 2, 3].map((minute) => removal(minute, { share: 0.5 }));
    expect(minutesOf(history([], removals), "consolidateAfter 5m")).toBeCloseTo(3 * 0.5 * 4.5);
  });

  it("estimates a month from two days on", () => {
    const [short, long] = [47, 48].map((length) => {
      const { candidates, per } = rank({ ...churned(), until: at(length * 60) }, question());
      return { per, launches: named(candidates).get("hold=auto")?.launches ?? 0 };
    });
    expect([short?.per, long?.per]).toEqual(["in that time", "a month"]);
    expect(long?.launches).toBeCloseTo(15 * (short?.launches ?? 0));
  });

  it("ranks nothing by fewer than three removals", () => {
    expect(rank(churned(2), question())).toMatchObject({
      candidates: [],
      because: expect.stringContaining("removed 2 nodes"),
    });
    const drifted = [1, 2, 3].map((minute) => removal(minute, { reason: "Drifted" }));
    expect(rank(history([], drifted), question()).because).toContain("removed 0 nodes");
  });
});
