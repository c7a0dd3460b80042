import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Outcome, outcomeFile } from "./truth-outcome.ts";
import { truthTablePage } from "./truth-table-page.ts";

// The suite has just written it; nobody else does.
const outcome = JSON.parse(readFileSync(outcomeFile, "utf8")) as Outcome;
writeFileSync(join(import.meta.dirname, "../../docs/what-a-hold-blocks.md"), truthTablePage(outcome));
