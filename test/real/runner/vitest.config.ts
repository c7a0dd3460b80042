import { defineConfig } from "vitest/config";
import { patience } from "../engines/processes.ts";

// One suite per process: run.ts decides which run at the same time.
export default defineConfig({
  test: {
    include: ["test/real/suites/*.suite.ts"],
    globalSetup: ["test/support/temporary-folder.ts"],
    fileParallelism: false,
    // A wait within a test ends before the test, so that the error says for what it waited.
    testTimeout: 3 * patience,
    hookTimeout: 3 * patience,
  },
});
