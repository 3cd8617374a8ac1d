import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: [
      { find: /^pawl$/, replacement: fileURLToPath(new URL("src/index.ts", import.meta.url)) },
      { find: /^pawl\/testing$/, replacement: fileURLToPath(new URL("src/testing/index.ts", import.meta.url)) },
    ],
  },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/setup/global.ts"],
    pool: "forks",
    // Tests mostly wait for a database, but each embedded one takes 300 MB.
    maxWorkers: Math.min(8, Math.max(2, availableParallelism())),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
