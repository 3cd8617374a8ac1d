import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { entries } from "./test/setup/entries.ts";

const withoutServers = [
  "test/crowd/mturk*.test.ts",
  "test/outbox/memory.test.ts",
  "test/outbox/webhooks.test.ts",
  "test/architecture.test.ts",
  "test/code-blocks.test.ts",
  "test/exports.test.ts",
  "test/package.test.ts",
  "test/words.test.ts",
];

export default defineConfig({
  resolve: {
    alias: Object.entries(entries).map(([entry, path]) => ({
      find: new RegExp(`^${entry}$`),
      replacement: fileURLToPath(new URL(path, import.meta.url)),
    })),
  },
  test: {
    pool: "forks",
    // Tests mostly wait for a database, but each embedded one takes 300 MB.
    maxWorkers: Math.min(8, Math.max(2, availableParallelism())),
    // The SDK of AWS tells users of Node.js 20 about its own future, into the output of every run.
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What needs no database does not wait for one: the servers start only when a file of `stores` is to be run.
    projects: [
      {
        extends: true,
        test: { name: "pure", include: ["src/**/*.test.ts", "console/src/**/*.test.ts", ...withoutServers] },
      },
      {
        extends: true,
        test: {
          name: "stores",
          include: ["test/**/*.test.ts"],
          exclude: withoutServers,
          globalSetup: ["test/setup/global.ts"],
          // Files of one process share what it imported and its databases: an embedded one takes seconds to open.
          isolate: false,
        },
      },
    ],
  },
});
