import { defineConfig } from "vitest/config";

// One suite a process: run.ts knows which may stand side by side.
export default defineConfig({
  test: {
    include: ["test/real/suites/*.suite.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 900_000,
  },
});
