import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { costPage } from "./cost-page.ts";
import { pagesFolder } from "./pages-folder.ts";

const { values } = parseArgs({ options: { into: { type: "string" } } });
const folder = pagesFolder(values.into);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "cost.md"), costPage());
