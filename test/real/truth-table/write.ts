import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { writeBlock } from "../../../scripts/page-block.ts";
import { newestKarpenter, oldestKarpenter } from "../engines/build.ts";
import { type Outcome, outcomeFile } from "./outcome.ts";
import { truthTable } from "./page.ts";

const { values } = parseArgs({ options: { into: { type: "string" } } });
// The suite has just written these files.
const onBoth = <T>(file: (version: string) => string) => ({
  newest: JSON.parse(readFileSync(file(newestKarpenter), "utf8")) as T,
  oldest: JSON.parse(readFileSync(file(oldestKarpenter), "utf8")) as T,
});
writeBlock({
  page: "compare.md",
  command: "npm run truth-table",
  block: truthTable(onBoth<Outcome>(outcomeFile)),
  into: values.into,
});
