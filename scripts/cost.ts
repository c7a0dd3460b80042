import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { costPage } from "./cost-page.ts";

writeFileSync(join(import.meta.dirname, "..", "docs", "cost.md"), costPage());
