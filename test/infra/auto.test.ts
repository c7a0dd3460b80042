import { Duration } from "aws-cdk-lib";
import { expect, it } from "vitest";
import type { KarpenterNodeHolderProps } from "../../infra/index.ts";
import { synthesize } from "./synthesized.ts";

const deployed = (props: Partial<KarpenterNodeHolderProps>): string =>
  JSON.stringify(synthesize(props).toJSON());

it("hold=auto reaches the functions with what a relaunch is worth, and the dashboard shows what was learned", () => {
  const template = deployed({ hold: "auto", relaunchCost: Duration.minutes(30) });
  expect(template).toContain('"HOLD":"auto"');
  expect(template).toContain('"RELAUNCH_COST":"30m"');
  for (const metric of ["LearnedHoldMs", "IdleNodeMinutes", "RelaunchesSpared"])
    expect(template).toContain(metric);
});

it("a hold of one length shows nothing learned, and refuses a relaunch cost", () => {
  expect(deployed({})).not.toContain("LearnedHoldMs");
  expect(() => deployed({ relaunchCost: Duration.minutes(30) })).toThrow(
    "relaunchCost has an effect with hold=auto only",
  );
});
