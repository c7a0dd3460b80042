import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { detailOf } from "../../lambda/core/events.ts";
import { aPastHold, someRules } from "../support/builders.ts";

const page = readFileSync("docs/operating.md", "utf8").split("\n## Events\n")[1]?.split("\n## ")[0] ?? "";
const example = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");

it("the documented event is what is sent for such a hold", () => {
  const { detail } = example;
  const { version: _, cluster: _c, mode: _m, until: _u, holdId: id, startedAt, endedAt, ...others } = detail;
  const past = aPastHold({ ...others, id, startedAt: new Date(startedAt), endedAt: new Date(endedAt) });
  const sent = detailOf({ type: "Hold Ended", scope: detail.scope, holdId: id, past }, someRules());
  expect(JSON.parse(JSON.stringify(sent))).toEqual(detail);
});

it("the table has every field of it, and no other", () => {
  const [, table = ""] = page.split("| In `detail` |");
  const named = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  // What holds observes nothing.
  expect(named.toSorted()).toEqual([...Object.keys(example.detail), "observed"].toSorted());
});
