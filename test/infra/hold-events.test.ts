import { readFileSync } from "node:fs";
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Topic } from "aws-cdk-lib/aws-sns";
import { expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { detailOf } from "../../lambda/core/holds/events.ts";
import { aPastHold, someRules } from "../support/builders.ts";
import { resourcesOf } from "./synthesized.ts";

const page = readFileSync("docs/operating.md", "utf8").split("\n## Events\n")[1]?.split("\n## ")[0] ?? "";
const block = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(page)?.[1] ?? "";
const example = JSON.parse(block("json"));

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

it("the documented rule passes such events on, as a notification for chats", async () => {
  const source = block("ts");
  const stack = new Stack(new App(), "Mine");
  const imported = [...source.matchAll(/import \{ (.+) \} from "(.+)";/g)].map(
    async ([, names = "", from = ""]) => {
      const found = await import(from);
      return names.split(", ").map((name) => [name, found[name]] as const);
    },
  );
  const known = [
    ...(await Promise.all(imported)).flat(),
    ["stack", stack],
    ["topic", new Topic(stack, "Topic")],
  ] as const;
  const body = source.replaceAll(/^import .*$/gm, "").replace("(name: string)", "(name)");
  new Function(...known.map(([name]) => name), body)(...known.map(([, value]) => value));

  const [rule] = resourcesOf(Template.fromStack(stack), "AWS::Events::Rule").values();
  const { source: from, "detail-type": types, detail } = Object(rule?.Properties.EventPattern);
  expect([from, types, detail.cluster]).toEqual([
    [example.source],
    expect.arrayContaining([example["detail-type"]]),
    [example.detail.cluster],
  ]);
  const { InputPathsMap, InputTemplate } = Object(rule?.Properties.Targets)[0].InputTransformer;
  const paths: readonly string[] = Object.values(InputPathsMap);
  const fields = paths
    .filter((path) => path !== "$.detail-type")
    .map((path) => path.replace("$.detail.", ""));
  expect(Object.keys(example.detail)).toEqual(expect.arrayContaining(fields));
  expect(JSON.parse(InputTemplate.replaceAll(/([:,])<([\w-]+)>/g, '$1"<$2>"'))).toMatchObject({
    version: "1.0",
    source: "custom",
    content: { description: expect.stringContaining("startedBecause") },
  });
});
