import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const manifest = JSON.parse(readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8"));

/** Pawl's entry points according to `package.json`, each with the path of its source. The main one comes first. */
export const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<{ default: string } | string>(manifest.exports).flatMap(([name, target]) =>
    typeof target === "string"
      ? []
      : [[`pawl${name.slice(1)}`, target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")]],
  ),
);
