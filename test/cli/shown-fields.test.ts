import { expect, it } from "vitest";
import type { StatusAnswer } from "../../cli/answers.ts";
import { historyTable } from "../../cli/views/history-table.ts";
import { statusView } from "../../cli/views/status-view.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { readSettings } from "../../lambda/settings.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { wholeHold, wholeStatus } from "./whole-answers.ts";

const plain = (_: unknown, text: string) => text;
/** The value with another one in one place, for each place, and the path of that place. */
function* changed(value: unknown, path = ""): Generator<readonly [path: string, unknown]> {
  if (value instanceof Date) yield [path, after(value, minutes(1))];
  else if (typeof value === "number") yield [path, value + minutes(1)];
  else if (typeof value === "string") yield [path, `${value}.`];
  else if (typeof value === "boolean") yield [path, !value];
  else {
    const whole = Object(value);
    for (const [key, one] of Object.entries(whole))
      for (const [where, other] of changed(one, `${path}.${key}`))
        yield [where, Array.isArray(whole) ? whole.with(Number(key), other) : { ...whole, [key]: other }];
  }
}

const statusText = (one: unknown) =>
  statusView(one as StatusAnswer, { style: plain, wide: true, toHold: "deploy" }).join("\n");
const historyText = (one: unknown) => historyTable([one as PastHold], noon, plain, true).join("\n");

const withoutEffect: Readonly<Record<string, readonly string[]>> = {
  history: [".startedBecause"],
  // The command that holds is shown where the holder observes.
  status: [".toHold", ".rules.relaunchCost", ".rules.evictionCost"],
  "status with hold=auto": [".toHold", ".rules.hold"],
};

it.each([
  ["status", wholeStatus, statusText],
  ["status with hold=auto", { ...wholeStatus, rules: readSettings({ cluster: "prod" }) }, statusText],
  ["history", wholeHold, historyText],
  // Why it started is shown where it is not known what was part of it.
  ["history of a hold without figures", { ...wholeHold, launches: {}, requests: [] }, historyText],
] as const)("%s shows every field of the answer with -o wide", (name, answer, textOf) => {
  const text = textOf(answer);
  const unseen = [...changed(answer)].filter(([, other]) => textOf(other) === text).map(([path]) => path);
  expect(unseen).toEqual(withoutEffect[name] ?? []);
});
