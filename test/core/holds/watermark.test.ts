import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { isPaused, watermarkOf, withoutLaunchAhead } from "../../../lambda/core/holds/watermark.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aRecord, aSilence } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));

describe("the watermark", () => {
  it("has a reason and a start where it is a silence", () => {
    const quiet = aSilence("paused");
    expect(watermarkOf(aRecord({ launchesCountFrom: at(5), quiet }))).toStrictEqual({ from: at(5), quiet });
    expect(watermarkOf(aRecord({ launchesCountFrom: at(5) }))).toStrictEqual({ from: at(5) });
  });

  it("is the later of the scope's and the whole cluster's, and the scope's own where both are the same", () => {
    const own = aRecord({ launchesCountFrom: at(5), quiet: aSilence("breather") });
    const whole = (minute: number) => aRecord({ launchesCountFrom: at(minute), quiet: aSilence("paused") });
    expect([4, 5, 6].map((minute) => watermarkOf(own, whole(minute)).quiet?.kind)).toEqual([
      "breather",
      "breather",
      "paused",
    ]);
  });

  it("is a pause until its moment comes", () => {
    expect([4, 5].map((minute) => isPaused({ from: at(5), quiet: aSilence("paused") }, at(minute)))).toEqual([
      true,
      false,
    ]);
  });
});

it("forgets a last launch that lies in the future, and no other", () => {
  const last = (minute: number) =>
    withoutLaunchAhead(aRecord({ lastLaunchAt: at(minute) }), at(5)).lastLaunchAt;
  expect([last(4), last(5), last(6)]).toEqual([at(4), at(5), undefined]);
  expect(withoutLaunchAhead(aRecord(), at(5))).toEqual(aRecord());
});
