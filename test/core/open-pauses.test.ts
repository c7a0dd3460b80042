import { describe, expect, test } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import {
  levels,
  mostPauses,
  mostTimes,
  noPauses,
  type Pauses,
  pausesAfter,
} from "../../lambda/core/pauses.ts";
import { waiting } from "./rooms.ts";

const noon = new Date("2026-11-21T12:00:00Z");

describe("pauses", () => {
  const look = (before: Pauses, minute: number, news: Partial<Parameters<typeof pausesAfter>[1]>) =>
    pausesAfter(before, {
      at: after(noon, minutes(minute - 1)),
      now: after(noon, minutes(minute)),
      superfluous: 0,
      taken: 0,
      launched: 0,
      relaunchCost: minutes(5),
      ...news,
    });

  test("go on when their node is gone, until one is launched", () => {
    const first = look(waiting.pauses, 0, { superfluous: 1 });
    const second = look(first, 1, { taken: 1 });
    expect(second).toMatchObject({ open: [{ since: noon, level: 0 }], gone: 1, ended: 0 });
    const third = look(second, 3, { launched: 1 });
    expect(third).toMatchObject({ open: [], gone: 0, ended: 1 });
    expect(third.learned[0]).toBe(-minutes(2));
  });

  test("of nodes that are gone are over after the time of a relaunch, and others have their level", () => {
    const first = look(waiting.pauses, 0, { superfluous: 1 });
    const second = look(first, 2, { taken: 1, superfluous: 1 });
    expect(second.open.map(({ level }) => level)).toEqual([0, 1]);
    const third = look(second, 5, { superfluous: 2 });
    expect(third).toMatchObject({ gone: 0, ended: 0 });
    expect(third.open.map(({ level }) => level)).toEqual([1, 0]);
    expect(third.learned[0]).toBe(minutes(5));
  });

  test("are counted once", () => {
    let { pauses }: { pauses: Pauses } = waiting;
    for (let minute = 0; minute < 60; minute++) pauses = look(pauses, minute, { superfluous: 1 });
    pauses = look(pauses, 60, {});
    expect(pauses.learned[0]).toBe(minutes(5));
  });

  test("teach no more than eight relaunches", () => {
    let pauses: Pauses = noPauses;
    for (let round = 0; round < 200; round++) {
      const news = { at: after(noon, hours(round)), now: after(noon, hours(round + 1)) };
      pauses = look(pauses, 0, { ...news, superfluous: round % 2 ? 0 : 1_000 });
    }
    expect(pauses.learned).toHaveLength(levels);
    for (const one of pauses.learned) expect(Math.abs(one)).toBeLessThanOrEqual(8 * minutes(5));
  });

  test("are no more than a record has room for, and begin at no more times", () => {
    expect(look(noPauses, 0, { superfluous: 2 * mostPauses }).open).toHaveLength(mostPauses);
    let pauses: Pauses = noPauses;
    for (let minute = 0; minute < mostTimes + 10; minute++)
      pauses = look(pauses, minute, { superfluous: minute + 1 });
    expect(pauses.open).toHaveLength(mostTimes);
  });
});
