import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect } from "vitest";
import { exportedEvents } from "../../cli/advise/cloudtrail-events.ts";
import * as answered from "../../cli/answers.ts";
import { parseInside } from "../../cli/doctor/inside.ts";
import { Failure } from "../../cli/terminal/failure.ts";
import { historyPage } from "../../cli/views/history-page.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { run } from "../cli/cloudtrail-records.ts";
import { aCheck } from "../cli/function-answers.ts";
import { aHeldScope } from "../cli/healthy-account.ts";
import { elementsIn } from "../report/markup.ts";
import { aPastHold, aStatus } from "../support/builders.ts";
import fc from "../support/fast-check.ts";
import { newFolder } from "../support/new-folder.ts";
import { swapped } from "./faulty-answers.ts";
import { errorOf, expectClear, fuzzed } from "./fuzz.ts";

const folder = newFolder();
const file = join(folder, "events.json");

const value = fc.constantFrom<unknown>(null, 7, -1.5, true, "", "<b>", [], {}, { toString: 1 }, ["a"]);
const mangled = (whole: unknown) =>
  fc.tuple(fc.nat(), value).map(([which, other]) => swapped(JSON.stringify(whole), which, other));

const action = {
  ...{ name: "a", because: "x", since: noon, until: noon, heldUntil: noon, observed: true },
  ...{ resumed: ["cluster"], isPaused: true, marked: 1, userHeld: 0 },
  ...{ released: 1, kept: 0, failed: 0, left: false },
};
const { parseHeld, parsePaused, parseReleased, parseResumed } = answered;
const parsers: readonly ((answer: unknown) => unknown)[] = [
  ...[answered.parseStatus, answered.parseHistory, parseInside],
  ...[parseHeld, parsePaused, parseReleased, parseResumed],
];

const answers = fc.oneof(
  fc.json(),
  ...[aStatus, aCheck({ record: { holds: [aHeldScope] } }), action, { holds: [aPastHold()] }].map(mangled),
);

fuzzed(
  "an invalid answer of the control function is reported as invalid",
  async (text) => {
    for (const parse of parsers) {
      const error = await errorOf(Promise.resolve(JSON.parse(text)).then(parse));
      if (error) expectClear(error, [Failure], []);
    }
  },
  { runs: 200, given: [answers] },
);

describe("an export of CloudTrail", () => {
  const record = run(1, 0);
  const whole = JSON.stringify({ Records: [record] });
  const read = (content: string | Buffer) => {
    writeFileSync(file, content);
    return exportedEvents([file], "prod");
  };

  const contents = fc.oneof(
    mangled({ Records: [record] }),
    fc.nat({ max: whole.length }).map((length) => whole.slice(0, length)),
    fc.nat({ max: 60 }).map((length) => gzipSync(whole).subarray(0, length)),
    fc.json(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("[".repeat(100_000), `${"[".repeat(20_000)}${"]".repeat(20_000)}`, "\u0000", "garbage"),
  );

  fuzzed(
    "is read, or refused with the file's name and what is wrong in it",
    async (content) => {
      const error = await errorOf(Promise.resolve(content).then(read));
      if (!error) return;
      expectClear(error, [BadInputError], []);
      expect(String(error)).toContain(file);
      expect(String(error)).not.toContain("call stack");
    },
    { runs: 200, given: [contents] },
  );
});

const evil = fc.oneof(
  fc.constantFrom(
    '<script>alert("1")</script>',
    '"><img src=x onerror=alert(1)>',
    "'</title></svg>",
    "\u0000\ud800&",
  ),
  fc.string({ unit: "binary" }),
);
const moment = fc.date({ min: new Date(0), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true });
const hold = fc
  .record({
    id: evil,
    startedBecause: evil,
    endedBecause: evil,
    startedAt: moment,
    endedAt: moment,
    requests: fc.array(evil, { maxLength: 2 }),
    launches: fc.dictionary(evil, fc.nat(), { maxKeys: 2 }),
  })
  .map((about) => aPastHold(about));

fuzzed(
  "a page of history contains only our markup, whatever its holds contain",
  async (holds, cluster) => {
    const page = historyPage(holds, { holder: cluster, sums: "", none: "", now: noon });
    const drawn = page.match(/<svg.*?<\/svg>/gs) ?? [];
    expect(elementsIn(drawn.join("")).map(({ name }) => name)).not.toContain("script");
    expect(page.match(/<(script|img)/g)).toEqual(["<script"]);
    expect(page.length).toBeLessThan(200_000);
  },
  { runs: 100, given: [fc.array(hold, { maxLength: 5 }), evil] },
);
