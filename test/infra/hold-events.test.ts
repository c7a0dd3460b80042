import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { detailOf } from "../../lambda/core/holds/events.ts";
import { aPastHold, someRules } from "../support/builders.ts";

const page = readFileSync("docs/operating.md", "utf8").split("\n## Events\n")[1]?.split("\n## ")[0] ?? "";
const example = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");

it("the documented event is what is sent for such a hold", () => {
  const { detail } = example;
  const { holdId: id, scope, startedBecause, launches, extensions, nodes, endedBecause } = detail;
  const hold = aPastHold({
    ...{ id, startedBecause, launches, extensions, nodes, endedBecause },
    startedAt: new Date(detail.startedAt),
    expiresAt: new Date(detail.expiresAt),
    endedAt: new Date(detail.endedAt),
    causes: { launches: { batch: launches }, uses: 2 },
    idleTime: minutes(detail.idleNodeMinutes),
    spared: detail.relaunchesSpared,
  });
  const sent = detailOf({ type: "Hold Ended", scope, hold }, someRules());
  expect(JSON.parse(JSON.stringify(sent))).toEqual(detail);
});

it("the table has every field of it, and no other", () => {
  const [, table = ""] = page.split("| In `detail` |");
  const named = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(named.toSorted()).toEqual(Object.keys(example.detail).toSorted());
});
