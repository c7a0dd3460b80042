import { recordSizes } from "./bundle-sizes.ts";
import { buildFunctions } from "./bundles.ts";

await buildFunctions();
recordSizes();
