import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Template } from "../../cli/template/fill-in.ts";
import { keptTemplates } from "../../scripts/keep-template.ts";

/** The templates of released versions, the oldest first. */
export const readKeptTemplates = (): readonly Readonly<{ version: string; template: Template }>[] =>
  readdirSync(keptTemplates)
    .map((file) => ({
      version: file.replace(".json.gz", ""),
      template: JSON.parse(gunzipSync(readFileSync(join(keptTemplates, file))).toString()),
    }))
    .toSorted((a, b) => a.version.localeCompare(b.version, "en", { numeric: true }));
