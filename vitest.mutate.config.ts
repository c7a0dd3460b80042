import { defineConfig } from "vitest/config";

// The tests that state the rules. Each mutation runs only those that reach the mutated line.
export default defineConfig({
  test: {
    include: ["test/{core,handlers,scenarios,cluster-access}/**/*.test.ts", "test/contracts/nodes.test.ts"],
    isolate: false,
    testTimeout: 20_000,
  },
});
