import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pagesFolder } from "../../../scripts/pages-folder.ts";
import { newestKarpenter, oldestKarpenter } from "../engines/build.ts";
import { type LaunchOutcome, launchOutcomeFile } from "./launch-outcome.ts";
import { type Outcome, outcomeFile } from "./outcome.ts";
import { truthTablePage } from "./page.ts";

const { values } = parseArgs({ options: { into: { type: "string" } } });
const folder = pagesFolder(values.into);
mkdirSync(folder, { recursive: true });
// The suites have just written these files.
const onBoth = <T>(file: (version: string) => string) => ({
  newest: JSON.parse(readFileSync(file(newestKarpenter), "utf8")) as T,
  oldest: JSON.parse(readFileSync(file(oldestKarpenter), "utf8")) as T,
});
const page = truthTablePage(onBoth<Outcome>(outcomeFile), onBoth<LaunchOutcome>(launchOutcomeFile));
writeFileSync(join(folder, "what-a-hold-blocks.md"), page);
