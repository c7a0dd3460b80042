import { buildStaleFunctions } from "../../scripts/bundles.ts";

/** Before all tests: synth and the size budget look at the bundles, so they are built when a source is newer. */
export default buildStaleFunctions;
