import { describe, expect, it } from "vitest";
import {
  parseHeld,
  parseHistory,
  parsePaused,
  parseReleased,
  parseResumed,
  parseStatus,
} from "../../cli/answers.ts";
import { parseInside } from "../../cli/doctor/inside.ts";
import { Failure } from "../../cli/terminal/failure.ts";
import type { HoldAnswer } from "../../lambda/core/operate/hold.ts";
import type { ReleaseAnswer, ResumeAnswer } from "../../lambda/core/operate/release.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold, aScopeStatus, aStatus } from "../support/builders.ts";
import { aCheck } from "./function-answers.ts";
import { wholeHold, wholeStatus } from "./whole-answers.ts";

const overTheWire = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer));
describe("an answer of the control function", () => {
  it("is read with every field of its type, and with its dates", () => {
    const begun: Required<HoldAnswer> = {
      ...{ name: "a", holdId: "h", since: noon, until: noon, heldUntil: noon, because: "x" },
      ...{ marked: 2, userHeld: 1, failed: 0, left: false, observed: true },
    };
    const ended: Required<ReleaseAnswer> = {
      because: "x",
      heldUntil: noon,
      released: 2,
      kept: 0,
      failed: 0,
      left: false,
    };
    const paused = { ...ended, until: noon };
    const resumed: Required<ResumeAnswer> = {
      because: "x",
      isPaused: true,
      resumed: ["cluster"],
      failed: 0,
      left: false,
    };
    expect(parseStatus(overTheWire(wholeStatus))).toEqual(wholeStatus);
    expect(parseHistory(overTheWire({ holds: [wholeHold] }))).toEqual([wholeHold]);
    expect(parseHeld(overTheWire(begun))).toEqual(begun);
    expect(parseReleased(overTheWire(ended))).toEqual(ended);
    expect(parsePaused(overTheWire(paused))).toEqual(paused);
    expect(parseResumed(resumed)).toEqual(resumed);
    expect(parseInside(overTheWire(aCheck())).at).toEqual(noon);
  });

  it("is read as plain lines: nobody's name or reason can colour a terminal or add a line to it", () => {
    const named = { launches: { "\x1b[32mbatch\n": 1 }, requests: ["a\nb"], endedBecause: "\x1b[2Jdone\r" };
    expect(parseHistory(overTheWire({ holds: [aPastHold(named)] }))).toEqual([
      aPastHold({ launches: { "batch ": 1 }, requests: ["a b"], endedBecause: "done " }),
    ]);
  });

  it.each<[string, refused: () => unknown, problems: readonly string[]]>([
    ["no object", () => parseStatus("x"), ['the answer must be an object, not "x"']],
    [
      "a status with two mistakes",
      () => parseStatus({ ...aStatus, at: "today", scopes: [aScopeStatus({ state: "on" as "held" })] }),
      [
        "at must be a time like",
        'scopes[0].state must be none, held, releasing, paused or breather, not "on"',
      ],
    ],
    [
      "a link",
      () => parseInside(aCheck({ record: { works: "yes" } })),
      ['record.works must be true or false, not "yes"'],
    ],
  ])("is refused with the path and the expected value of every problem: %s", (_, refused, problems) => {
    expect(refused).toThrow(Failure);
    for (const problem of problems) expect(refused).toThrow(problem);
  });
});
