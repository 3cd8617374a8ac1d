import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const from = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds the pages: the console, and the desk with a bundle of its own. */
export default defineConfig({
  root: from("console"),
  base: "./",
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: from("dist/console"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: from("console/index.html"), desk: from("console/desk.html"), docs: from("console/docs.html") },
    },
  },
});
