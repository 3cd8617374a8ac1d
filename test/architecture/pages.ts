import { posix } from "node:path";
import type { Tree } from "./check.ts";
import { scan } from "./scan.ts";

/** What a browser is given of other people's work. */
const packages = ["preact", "preact/hooks", "@preact/signals", "wouter-preact", "uplot"];
const contract = "src/http/contract.ts";
const contracts = [contract, "src/http/answers-by-path.ts"];

/** Every line of `console/src/` that reaches for more than pages may know: the types of the contract, and themselves. */
export function checkPages(tree: Tree): string[] {
  const faults: string[] = [];
  for (const [path, text] of Object.entries(tree)) {
    const here = `console/src/${path}`;
    for (const { from, line, typeOnly } of scan(path, text).imports) {
      const target = from.startsWith(".") ? posix.join(posix.dirname(here), from) : from;
      const place = `${here}:${line} imports ${target}`;
      if (target.startsWith("console/src/")) {
        if (posix.dirname(target).startsWith("console/src/desk") && !here.startsWith("console/src/desk/"))
          faults.push(`${place}; the desk is a bundle of its own`);
      } else if (contracts.includes(target)) {
        if (!typeOnly) faults.push(`${place}; of the contract a page knows types alone`);
      } else if (!packages.includes(target) && !/^uplot\/.*\.css$/.test(target)) {
        faults.push(`${place}; a page knows ${contract} and ${packages.join(", ")}`);
      }
    }
  }
  return faults;
}
