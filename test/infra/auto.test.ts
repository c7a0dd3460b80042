import { App, Duration, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import { KarpenterNodeHolder, type KarpenterNodeHolderProps } from "../../infra/index.ts";

function deployed(props: Partial<KarpenterNodeHolderProps>): string {
  const stack = new Stack(new App(), "Mine");
  new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", ...props });
  return JSON.stringify(Template.fromStack(stack).toJSON());
}

it("hold=auto reaches the functions with what a relaunch is worth, and the dashboard shows what was learned", () => {
  const template = deployed({ hold: "auto", relaunchCost: Duration.minutes(30) });
  expect(template).toContain('"HOLD":"auto"');
  expect(template).toContain('"RELAUNCH_COST":"30m"');
  for (const metric of ["LearnedHoldMs", "IdleNodeMinutes", "RelaunchesSpared"])
    expect(template).toContain(metric);
});

it("an idle budget reaches the functions, and an alarm watches each day's idle node-minutes", () => {
  const template = deployed({ hold: "auto", idleBudget: Duration.hours(40) });
  expect(template).toContain('"IDLE_BUDGET":"40h"');
  expect(template).toMatch(
    /idle-budget-spent"[^{}]*(\{[^{}]*\}[^{}]*)*"Period":86400,"Statistic":"Sum","Threshold":2400/,
  );
  expect(deployed({ hold: "auto" })).not.toContain("idle-budget-spent");
});

it("a hold of one length shows nothing learned, and refuses a relaunch cost", () => {
  expect(deployed({})).not.toContain("LearnedHoldMs");
  expect(() => deployed({ relaunchCost: Duration.minutes(30) })).toThrow(
    "relaunchCost has an effect with hold=auto only",
  );
});
