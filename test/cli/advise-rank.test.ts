import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { advise } from "../../cli/advise/advice.ts";
import type { Account, History } from "../../cli/advise/history.ts";
import { readKarpenterLog } from "../../cli/advise/karpenter-log.ts";
import { nodePoolSchema } from "../../cli/advise/objects.ts";
import { type Candidate, type Question, rank } from "../../cli/advise/rank.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import { aNodePool } from "./advise-cluster.ts";
import { at, churn } from "./karpenter-lines.ts";
import { history, launch, removal } from "./lived.ts";

const aPool = (disruption: Readonly<Record<string, unknown>> = {}) =>
  v.parse(
    nodePoolSchema,
    aNodePool({ name: "default", disruption: { consolidateAfter: "30s", ...disruption } }),
  );
const question = (more: Partial<Question> = {}): Question => ({
  ...{ relaunchCost: minutes(5), evictionCost: minutes(3), holds: [minutes(20)], nodePools: [aPool()] },
  ...more,
});
const churned = (times = 20, more = {}) => {
  const read = readKarpenterLog(churn(times, more).join("\n"));
  if (!read) throw new Error("no line was read");
  return read;
};
const named = (candidates: readonly Candidate[]) => new Map(candidates.map((one) => [one.name, one]));
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
    // 5m + 2 × 3m and 5m; the third is after maxHold.
    expect(minutesIn(auto(lived))).toBeCloseTo(11 + 5);
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
      // Three pauses teach it; each costs five minutes.
      expect(minutesIn(learned)).toBeCloseTo(3 * 5);
      expect(minutesIn(unlearned)).toBeCloseTo(12 * (5 - 2));
    });

    it("waited for where nodes are needed again soon, so that launches are spared", () => {
      expect(auto(livedOf(pauses(3, 8)))).toMatchObject({ launches: 7 });
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

  it("puts hold=auto before consolidateAfter 5m once it has learned not to wait", () => {
    const order = (times: number) =>
      rank(livedOf(pauses(60, times)), question())
        .candidates.map(({ name }) => name)
        .filter((name) => ["hold=auto", "consolidateAfter 5m"].includes(name));
    expect(order(3)).toEqual(["consolidateAfter 5m", "hold=auto"]);
    expect(order(12)).toEqual(["hold=auto", "consolidateAfter 5m"]);
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

describe("the advice", () => {
  const place = { cluster: "prod", flags: ["--context", "prod"], isAws: true };
  const known = { accounts: [], pools: [], isClosed: false, place, readAt: at(0) };
  const on = (lived: History, more: Partial<Question> = {}) => {
    const asked = question(more);
    return advise({ ...known, ranking: rank(lived, asked), pools: asked.nodePools });
  };

  it("prints what starts the holder, where that is best", () => {
    expect(on(churned())).toEqual({
      verdict: "holder",
      because: expect.stringMatching(
        /^hold=auto saves most in that time: 18 launches and 72 evictions fewer .* worth 3\.\d node-hours/,
      ),
      commands: [
        expect.stringMatching(/^npx karpenter-node-holder run --context prod --hold auto /),
        "npx cdk deploy -c cluster=prod -c hold=auto -c relaunchCost=5m -c evictionCost=3m -c alarms=none   # or -c alarmTopicArn=ARN",
      ],
    });
  });

  it("prints the change of each NodePool that it is for, beside its other budgets, where Karpenter's own setting is best", () => {
    // The first of them comes before any launch, so no hold is on.
    const lived = history(
      Array.from({ length: 9 }, (_, i) => launch(i * 60 + 50)),
      Array.from({ length: 9 }, (_, i) => removal(i * 60 + 40, { pods: 4 })),
    );
    const nodePools = [aPool({ budgets: [{ nodes: "20%" }] })];
    const { verdict, because, commands } = on(lived, { nodePools, holds: [] });
    expect(verdict).toBe("karpenter");
    expect(because).toContain("You do not need the holder");
    const patch = JSON.parse(/-p '(.*)'$/.exec(commands[0] ?? "")?.[1] ?? "{}");
    expect(commands[0]).toMatch(/^kubectl patch nodepool default --type merge -p /);
    expect(patch).toEqual({ spec: { disruption: { consolidationPolicy: "WhenEmpty" } } });
    const pool = aPool({ budgets: [{ nodes: "20%" }] });
    const { applies } = named(rank(lived, question()).candidates).get("budget 6 of 60 min") ?? {};
    expect(applies?.by === "nodepool" && applies.disruption(pool)).toEqual({
      budgets: [
        { nodes: "20%" },
        { nodes: "0", schedule: "0 * * * *", duration: "54m", reasons: ["Underutilized"] },
      ],
    });
  });

  it("says that the holder is not needed where nothing saves anything", () => {
    const steady = history([], [removal(100), removal(200), removal(300)]);
    expect(on(steady)).toMatchObject({
      verdict: "nothing",
      because: expect.stringContaining("You do not need the holder"),
    });
  });

  it("says so without a ranking where Karpenter removed nothing in a day, and is silent where nobody knows", () => {
    const none = { because: "there is no log", candidates: [], replayed: 0, unchanged: 0 };
    const since = (hour: number) => ({ source: "metrics", removed: 0, from: at(-hour * 60) });
    const by = (...accounts: readonly Account[]) => advise({ ...known, ranking: none, accounts });
    expect(by(since(24), { source: "events" }).verdict).toBe("nothing");
    expect(by(since(24), since(1)).verdict).toBe("nothing");
    expect(by(since(24), { source: "events", removed: 1 }).verdict).toBe("unknown");
    expect(by({ source: "events" }).verdict).toBe("unknown");
    // Less than a day shows nothing, and neither does a time of unknown length.
    expect(by(since(23)).verdict).toBe("unknown");
    expect(by({ ...since(48), until: at(-25 * 60) }).verdict).toBe("unknown");
    expect(by({ source: "metrics", removed: 0 }).verdict).toBe("unknown");
    expect(by({ source: "events", removed: 1 }).because).toBe("Nothing is ranked: there is no log.");
  });
});
