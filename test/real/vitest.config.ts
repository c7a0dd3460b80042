import { defineConfig } from "vitest/config";

// One suite after the other: the engines of one fill two cores.
export default defineConfig({
  test: {
    include: ["test/real/*.suite.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 900_000,
  },
});
