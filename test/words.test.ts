import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const notOurs = new Set(["node_modules", "dist", "coverage", ".git", ".pawl"]);

/** The files of the repository, and those that are about to be; in a copy without git, all that is not made. */
function ownFiles(): string[] {
  try {
    const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const paths = execFileSync("git", list, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split(
      "\0",
    );
    return [...new Set(paths)].filter((path) => path !== "" && existsSync(join(root, path)));
  } catch {
    return filesBelow(root).map((path) => relative(root, path).replaceAll("\\", "/"));
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !notOurs.has(entry.name))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]));
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Written with a gap, so that this list does not find itself. */
const unwanted = [
  "/ro ot/",
  "/wo rk/",
  "/ho me/[a-z]",
  "/Us ers/[a-z]",
  "[A-Z]:\\\\Us ers\\\\",
  "registry\\.np mjs\\.org",
  "registry\\.ya rnpkg\\.com",
  "np m\\.pkg\\.github\\.com",
  "de b\\.debian\\.org",
  "archive\\.ub untu\\.com",
  "py pi\\.org",
  '"res olved":',
  "\\bTO DO\\b",
  "\\bFIX ME\\b",
].map((pattern) => new RegExp(pattern.replace(" ", "")));

function findUnwanted(path: string, text: string): string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      unwanted.flatMap((pattern) => pattern.exec(line) ?? []).map((word) => `${path}:${index + 1} ${word}`),
    );
}

test("no file holds a path of somebody's machine, a package host or a mark of unfinished work", () => {
  const texts = ownFiles().map((path) => [path, read(path)] as const);
  expect(texts.filter(([, text]) => !text.includes("\0")).flatMap(([path, text]) => findUnwanted(path, text))).toEqual(
    [],
  );
  const mark = ["TO", "DO"].join("");
  expect(findUnwanted("x.md", `fine\n// ${mark}: later`)).toEqual([`x.md:2 ${mark}`]);
});

/** Links of a Markdown text that lead to a file, with what follows the `#`. Code is not read. */
function linksOf(markdown: string): { target: string; heading: string | undefined }[] {
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").replace(/`[^`\n]*`/g, "");
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const named = [...prose.matchAll(/^\s*\[[^\]]+\]:\s*<?([^\s>]+)/gm)];
  return [...inline, ...named]
    .map((match) => match[1] ?? "")
    .filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link))
    .map((link) => ({ target: decodeURI(link.split("#")[0] ?? ""), heading: link.split("#")[1] }));
}

/** The anchors that GitHub gives to headings. */
function anchorsOf(markdown: string): string[] {
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, "");
  return [...prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  );
}

function brokenLinks(path: string, markdown: string): string[] {
  return linksOf(markdown).flatMap(({ target, heading }) => {
    const file = target === "" ? path : resolve(root, dirname(path), target);
    if (target !== "" && !existsSync(file)) return [`${path} links to ${target}, which does not exist`];
    if (heading === undefined || !file.endsWith(".md")) return [];
    const anchors = anchorsOf(target === "" ? markdown : readFileSync(file, "utf8"));
    return anchors.includes(heading) ? [] : [`${path} links to ${target}#${heading}, and there is no such heading`];
  });
}

test("every relative link in the Markdown files leads somewhere", () => {
  const pages = ownFiles().filter((path) => path.endsWith(".md"));
  expect(pages.flatMap((path) => brokenLinks(path, read(path)))).toEqual([]);
  expect(
    brokenLinks("x.md", "# A b\n[one](#a-b) [two](#c) [three](no.md) `[four](no.md)` [five](https://x.y)"),
  ).toEqual(["x.md links to #c, and there is no such heading", "x.md links to no.md, which does not exist"]);
});

/**
 * Words that code and docs used once and must not use again, with the plain one. Identifiers such as `readFields` are not
 * words of their own, so code is searched as it is: comments, texts and names alike.
 */
const retired: readonly (readonly [pattern: string, instead: string])[] = [
  ["whoever|whomever", "the worker, the caller, …"],
  ["somebody|nobody|anybody", "a person, another worker, no process, …"],
  ["he|him|his|himself", "they, it"],
  ["unless given", "@default"],
  ["lives? through", "belongs to a lifecycle"],
  ["in vain", "timed out, without a result"],
  ["astray", "inconsistent, an issue"],
  ["mend|mends|mended|mending", "fix, repair, retry"],
  ["(give|gives|given|gave|giving) back", "return"],
  ["(take|takes|taken|took) up (again|anew)", "retry, requeue, recover"],
  ["(is|are|was|were|be|been) given up", "failed permanently, dead"],
  ["hears|heard|hears of", "receives, is notified"],
  ["(is|are|was|were|be|been) told", "is notified, gets, receives"],
  ["beside", "next to, in addition to"],
  ["anew", "again"],
  ["(is|are|was|were) over(?! \\d)", "has ended, has expired"],
  ["lets? go", "releases"],
  ["(in|at) hand", "open, claimed, running"],
  ["goes on|went on", "continues"],
  ["befall", "apply"],
  ["value_unstorable|ended_elsewhere|already_given", "an error code of today"],
  [
    "putLabeler|keepDraft|visitorOf|visitorIn|carryOn|whenParentEnds|tellAlerts|tellTickets|keepLetters",
    "a name of today",
  ],
];

/** What is published or explains it: the docs, and the sources without their tests. */
function isPlain(path: string): boolean {
  if (/^(README|CHANGELOG|CONTRIBUTING)\.md$/.test(path) || /^docs\/.*\.md$/.test(path)) return true;
  if (/\.test\.tsx?$/.test(path)) return false;
  return /^(src|console)\/.*\.(tsx?|html)$/.test(path);
}

function findRetired(path: string, text: string): string[] {
  const words = retired.map(
    ([pattern, instead]) => [new RegExp(`(?<![\\w#.-])(?:${pattern})(?![\\w-])`, "i"), instead] as const,
  );
  return text.split("\n").flatMap((line, index) =>
    words.flatMap(([word, instead]) => {
      const found = word.exec(line)?.[0];
      return found === undefined ? [] : [`${path}:${index + 1} "${found}": ${instead}`];
    }),
  );
}

test("no retired word comes back into the docs, the errors, the logs or the comments", () => {
  const found = ownFiles()
    .filter(isPlain)
    .flatMap((path) => findRetired(path, read(path)));
  expect(found).toEqual([]);
  expect(findRetired("x.ts", "/** Tells whoever waits. */\nconst anewest = 1;\n// Begins anew.")).toEqual([
    'x.ts:1 "whoever": the worker, the caller, …',
    'x.ts:3 "anew": again',
  ]);
});
