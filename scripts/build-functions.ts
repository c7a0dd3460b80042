import { buildStaleFunctions } from "./bundles.ts";

await buildStaleFunctions();
