import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/built-functions.ts"],
    exclude: ["test/real/**"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
