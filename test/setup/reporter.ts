import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from "vitest/node";

/** The result of a run for `npm test`, which prints it as the last line. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** The suites that were skipped as a whole, and single tests skipped elsewhere. */
  skippedNames: string[];
}

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    process.send?.(count(modules, errors));
  }
}

/** In addition to failed tests, a file or hook that broke and an error that no test caught count as failures. */
function count(modules: readonly TestModule[], errors: readonly SerializedError[]): Counts {
  const counts: Counts = { passed: 0, failed: errors.length, skipped: 0, skippedNames: [] };
  const names = new Set<string>();
  for (const module of modules) {
    counts.failed += module.errors().length;
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") counts.passed += 1;
      else if (state === "failed") counts.failed += 1;
      else {
        counts.skipped += 1;
        names.add(`${module.relativeModuleId} > ${largestSkipped(test).fullName}`);
      }
    }
  }
  counts.skippedNames = [...names];
  return counts;
}

function largestSkipped(test: TestCase): TestCase | TestSuite {
  let largest: TestCase | TestSuite = test;
  while (largest.parent.type === "suite" && isSkipped(largest.parent)) largest = largest.parent;
  return largest;
}

function isSkipped(suite: TestSuite): boolean {
  return [...suite.children.allTests()].every((test) => test.result().state === "skipped");
}
