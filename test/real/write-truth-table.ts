import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newestKarpenter, oldestKarpenter } from "./build.ts";
import { type Outcome, outcomeFile } from "./truth-outcome.ts";
import { truthTablePage } from "./truth-table-page.ts";

// The suite has just written them; nobody else does.
const outcomeOf = (version: string) => JSON.parse(readFileSync(outcomeFile(version), "utf8")) as Outcome;
const page = truthTablePage(outcomeOf(newestKarpenter), outcomeOf(oldestKarpenter));
writeFileSync(join(import.meta.dirname, "../../docs/what-a-hold-blocks.md"), page);
