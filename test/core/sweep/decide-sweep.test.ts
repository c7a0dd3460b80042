import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { type ScopeRecord, watermarkOf } from "../../../lambda/core/holds/hold.ts";
import { decideSweep } from "../../../lambda/core/sweep/decide-sweep.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const decide = (record: ScopeRecord, now = at(5), rules = someRules(), whole?: ScopeRecord) =>
  decideSweep({ record, watermark: watermarkOf(record, whole), rules, now });

describe("the sweep", () => {
  it("does nothing for a scope without a hold", () => {
    expect(decide(aRecord())).toEqual({ action: "leave", because: "nothing is held" });
  });

  it("creates the one-shot again for its time, in case it was lost", () => {
    const decision = decide(aRecord({ hold: aHold({ expiresAt: at(40), armedFor: at(20) }) }));

    expect(decision).toMatchObject({ action: "keep", armFor: at(20) });
  });

  it("creates a one-shot for the expiry when there is none or it has fired", () => {
    const because = "the hold goes on";
    expect(decide(aRecord({ hold: aHold() }))).toMatchObject({ action: "keep", armFor: at(20), because });
    for (const minute of [20, 21])
      expect(
        decide(aRecord({ hold: aHold({ expiresAt: at(40), armedFor: at(20) }) }), at(minute)),
      ).toMatchObject({ action: "keep", armFor: at(40), because });
  });

  it("fences an overdue hold, and starts the breather of a capped one", () => {
    const decision = decide(aRecord({ hold: aHold({ capped: true }) }), at(20));

    expect(decision).toMatchObject({
      action: "release",
      record: {
        hold: { state: "releasing" },
        quiet: aSilence("breather", at(20)),
        launchesCountFrom: at(30),
      },
    });
  });

  it("continues an unfinished release", () => {
    const decision = decide(aRecord({ hold: aHold({ state: "releasing" }) }));

    expect(decision).toMatchObject({
      action: "release",
      because: "its release was not finished",
    });
  });

  it("ends holds of a former scope when they expire, without a breather", () => {
    const rules = someRules({ scope: "nodepool" });
    const record = aRecord({ hold: aHold({ capped: true }) });

    expect(decide(record, at(5), rules)).toMatchObject({
      action: "outlast",
      armFor: at(20),
      because: "holds are kept in another scope now: this one goes on until it expires",
    });
    expect(decide(record, at(20), rules)).toMatchObject({
      action: "release",
      record: { hold: { state: "releasing" } },
    });
    expect(decide(record, at(20), rules).record).not.toHaveProperty("launchesCountFrom");
  });

  describe("in scope nodepool", () => {
    const rules = someRules({ scope: "nodepool" });
    const pool = (about: Partial<ScopeRecord>) => aRecord({ scope: "nodepool/batch", ...about });

    it("ends a hold that began just while the whole cluster was paused or released", () => {
      const whole = aRecord({ launchesCountFrom: at(1) });

      const decision = decide(pool({ hold: aHold({ causedAt: noon }) }), at(5), rules, whole);

      const because = "its launches no longer count";
      expect(decision).toMatchObject({
        action: "release",
        because,
        record: { scope: "nodepool/batch", hold: { state: "releasing", endsBecause: because } },
      });
    });

    it("keeps a hold whose launch came after", () => {
      const whole = aRecord({ launchesCountFrom: noon });

      expect(decide(pool({ hold: aHold() }), at(5), rules, whole).action).toBe("keep");
    });
  });
});
