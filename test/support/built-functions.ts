import { buildStaleFunctions } from "../../scripts/bundles.ts";

/** Runs before all tests: they synthesize and measure the bundles, which are rebuilt when a source is newer. */
export default buildStaleFunctions;
