import { describe, expect, it } from "vitest";
import { churnPool } from "../../lab/churn/cluster-objects.ts";
import { changeOf, figuresOf } from "../../lab/churn/figures.ts";
import { predict } from "../../lab/churn/prediction.ts";
import { bursts } from "../../lab/churn/workload.ts";
import { at, evicted, gone, joined } from "../report/events.ts";

const minute = 10_000;

describe("the churn lab counts", () => {
  it("every node launched, and those that lived under five told minutes", () => {
    const events = [
      joined("a", 0),
      gone("a", 49),
      joined("b", 0),
      gone("b", 50),
      joined("c", 60),
      gone("d", 70),
    ];
    expect(figuresOf({ events, to: at(100) }, minute)).toMatchObject({ launched: 3, shortLived: 1 });
  });

  it("no node as short-lived that is still there at the end", () => {
    const figures = figuresOf({ events: [joined("a", 90)], to: at(100) }, minute);
    expect(figures).toMatchObject({ launched: 1, shortLived: 0 });
  });

  it("node-minutes from when a node joined until it was gone or the arm ended", () => {
    const events = [joined("a", 0), gone("a", 50), joined("b", 40)];
    expect(figuresOf({ events, to: at(100) }, minute)).toMatchObject({ nodeMinutes: 11, mostNodes: 2 });
  });

  it.each([
    [5, 4, "5 instead of 4 (+25 %)"],
    [3, 4, "3 instead of 4 (−25 %)"],
    [4, 4, "4 instead of 4 (±0 %)"],
    [0, 0, "0 instead of 0"],
    [5, 0, "5 instead of 0"],
  ])("%i beside %i, with the share where there is one", (figure, without, told) => {
    expect(changeOf(figure, without)).toBe(told);
  });

  it("evictions of services apart from those of jobs", () => {
    const events = [evicted("web-1", "a", 1), evicted("job-4-1", "a", 2), evicted("api-1", "a", 3)];
    expect(figuresOf({ events, to: at(9) }, minute)).toMatchObject({
      servicePodsEvicted: 2,
      jobsBegunAgain: 1,
    });
  });
});

describe("the model of advise, given the arm without the holder", () => {
  const conditions = { seed: 7, minutes: 54, minute, hold: 9 * minute, jobs: 1 };
  const seconds = (told: number) => told * 10;

  it("expects that a node kept through a hold spares the next launch, and idles until then", () => {
    const events = [joined("a", 0), gone("a", seconds(3)), joined("b", seconds(5)), gone("b", seconds(20))];
    expect(predict({ events, from: at(0), to: at(seconds(30)) }, conditions)).toEqual({
      launched: 1,
      nodeMinutes: 3 + 15 + 2,
    });
  });

  it("expects no more launches than there were, where no hold reaches from one to the next", () => {
    const events = [joined("a", 0), gone("a", seconds(3)), joined("b", seconds(12)), gone("b", seconds(13))];
    expect(predict({ events, from: at(0), to: at(seconds(30)) }, conditions)).toEqual({
      launched: 2,
      nodeMinutes: 9 + 9,
    });
  });
});

describe("the churn lab's work", () => {
  it("is the same for the same seed and another for another", () => {
    expect(bursts(7, 54)).toEqual(bursts(7, 54));
    expect(bursts(7, 54)).not.toEqual(bursts(8, 54));
  });

  it.each([1, 2, 3, 7, 8])("leaves time after the last job for a hold to end (seed %i)", (seed) => {
    const { jobs } = bursts(seed, 54);
    const last = Math.max(...jobs.map((job) => job.at + job.lasts));
    expect(jobs.length).toBeGreaterThan(20);
    expect(last).toBeLessThan(54 - 9);
  });

  it("comes in the order in which it is begun", () => {
    const times = bursts(7, 54).jobs.map((job) => job.at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("runs on small nodes, so that a burst needs several", () => {
    expect(JSON.stringify(churnPool("0s"))).toContain('"values":["2","4"]');
  });
});
