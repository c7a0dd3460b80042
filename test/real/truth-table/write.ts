import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pagesFolder } from "../../../scripts/pages-folder.ts";
import { newestKarpenter, oldestKarpenter } from "../engines/build.ts";
import { type Outcome, outcomeFile } from "./outcome.ts";
import { truthTablePage } from "./page.ts";

const { values } = parseArgs({ options: { into: { type: "string" } } });
const folder = pagesFolder(values.into);
mkdirSync(folder, { recursive: true });
// The suite has just written these files.
const outcomeOf = (version: string) => JSON.parse(readFileSync(outcomeFile(version), "utf8")) as Outcome;
const page = truthTablePage(outcomeOf(newestKarpenter), outcomeOf(oldestKarpenter));
writeFileSync(join(folder, "what-a-hold-blocks.md"), page);
