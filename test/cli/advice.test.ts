import { expect, it } from "vitest";
import { advise } from "../../cli/advise/advice.ts";
import type { Account, History } from "../../cli/advise/history.ts";
import { type Question, rank } from "../../cli/advise/rank.ts";
import { at } from "./karpenter-lines.ts";
import { aPool, churned, history, launch, named, question, removal } from "./lived.ts";

const place = { cluster: "prod", flags: ["--context", "prod"], isAws: true };
const known = { accounts: [], pools: [], isClosed: false, place, readAt: at(0) };
const on = (lived: History, more: Partial<Question> = {}) => {
  const asked = question(more);
  return advise({ ...known, ranking: rank(lived, asked), pools: asked.nodePools });
};

it("the advice prints what starts the holder, where that is best", () => {
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

it("the advice prints the change of each NodePool that it is for, beside its other budgets, where Karpenter's own setting is best", () => {
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

it("the advice says that the holder is not needed where nothing saves anything", () => {
  const steady = history([], [removal(100), removal(200), removal(300)]);
  expect(on(steady)).toMatchObject({
    verdict: "nothing",
    because: expect.stringContaining("You do not need the holder"),
  });
});

it("the advice says so without a ranking where Karpenter removed nothing in a day, and is silent where nobody knows", () => {
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
