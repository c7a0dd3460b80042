import { join } from "node:path";
import { buildFunctions } from "./bundles.ts";
import { buildPackage } from "./package.ts";

await buildFunctions();
await buildPackage(join(import.meta.dirname, "..", "dist"));
