import { afterAll, expect } from "vitest";
import { type Account, awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { type Finding, findingView, verdictView } from "../../cli/doctor/finding.ts";
import { examined } from "../cli/healthy-account.ts";
import { type AwsAnswer, fakeAws } from "../support/fake-aws.ts";
import fc from "../support/fast-check.ts";
import { answering, answers, roleWith, secretly, secrets } from "./aws-answers.ts";
import { errorOf, expectSecret, fuzzed } from "./fuzz.ts";

/** The links that may be reported when this call gets an invalid answer. */
const asked = {
  identity: ["credentials"],
  functionOf: ["functions"],
  ruleTo: ["rule", "queue policy", "dead letters", "timer"],
  queue: ["queue", "queue policy", "dead letters"],
  mapping: ["mapping"],
  trust: ["schedule role"],
  schedules: ["schedules"],
  hasAlias: ["release alias"],
  refused: ["permissions"],
  cluster: ["cluster"],
  accessGroups: ["access entries"],
  alarms: ["alarms"],
  unsent: ["notifications"],
} as const satisfies Partial<Record<keyof Account, readonly string[]>>;
type Asked = keyof typeof asked;
const questions = Object.keys(asked) as Asked[];

/** Played in every run: pages whose tokens form a circle, and a trust that is no JSON. */
const always: [Asked, ReturnType<typeof answering>][] = [
  ["ruleTo", answering('{"RuleNames":["r"],"NextToken":"round","EventPattern":"{"}')],
  ["alarms", answering('{"MetricAlarms":[],"NextToken":"round"}')],
  ["trust", answering(roleWith("%E0%A4%A"))],
];

const textOf = (finding: Finding) => findingView(finding, (_, text) => text).join("\n");

let reported: AwsAnswer = { body: "" };
const aws = await fakeAws(() => reported);
afterAll(() => aws.close());
const oddAccount = awsAccount(secretly(aws.client), "prod");

fuzzed(
  "an invalid answer of AWS is reported at its own link, and doctor checks all others",
  async (question, given) => {
    reported = given;
    const ask: (...given: never[]) => Promise<unknown> = oddAccount[question];
    const findings: Finding[] = [];
    const failure = await errorOf(examined({ [question]: ask }).then((found) => findings.push(...found)));

    expect(failure).toBeUndefined();
    const isEarly = question === "identity" || question === "functionOf";
    if (!isEarly) expect(findings.at(-1)?.link).toBe("probe");
    const elsewhere = findings.filter(
      ({ link, verdict }) =>
        verdict !== "ok" && verdict !== "skipped" && !asked[question].some((one) => one === link),
    );
    if (!isEarly) expect(elsewhere).toEqual([]);
    for (const finding of findings) {
      const text = textOf(finding);
      expect(text).not.toMatch(
        /is not a function|is not iterable|Cannot (read|convert)|Invalid time|\[object |\bundefined\b|\bNaN\b/,
      );
      expect(text).not.toMatch(/(?!\n)\p{Cc}/u);
      expect(text.length, text.slice(0, 300)).toBeLessThan(3_000);
      expectSecret(text, secrets);
    }
    expect(verdictView(findings, (_, text) => text)).not.toBe("");
  },
  { runs: 250, given: [fc.constantFrom(...questions), answers], examples: always },
);
