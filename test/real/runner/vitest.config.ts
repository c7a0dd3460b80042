import { defineConfig } from "vitest/config";

// One suite per process: run.ts decides which run at the same time.
export default defineConfig({
  test: {
    include: ["test/real/suites/*.suite.ts"],
    globalSetup: ["test/support/temporary-folder.ts"],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 900_000,
  },
});
