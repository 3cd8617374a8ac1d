import { posix } from "node:path";
import { belongs, doors, impure, packages, pureImports, pureRooms, rooms, slices } from "./rooms.ts";
import { type Import, type Scan, scan } from "./scan.ts";
import { isMove, isSql, movers, writesOrLocks } from "./sql.ts";

/** Texts of files by their path below `src/`. */
export type Tree = Readonly<Record<string, string>>;

interface File {
  /** Below `src/`. */
  readonly path: string;
  /** The folder, or the name of a door. */
  readonly room: string;
  readonly isTest: boolean;
  readonly scan: Scan;
  /** Names by which an instance or its journal is written. */
  readonly movers: readonly string[];
}

type Rule = (file: File, files: ReadonlyMap<string, File>) => Iterable<readonly [line: number, fault: string]>;

/** Every breach of the order of rooms, as a sentence with its place. Empty when all is where it belongs. */
export function check(tree: Tree, dependencies: readonly string[]): string[] {
  const files = new Map(Object.entries(tree).map(([path, text]) => [path, read(path, text)]));
  const rules = [named, importsRooms, importsPackages(dependencies), pure, statements, moves];
  const faults: string[] = [];
  for (const file of files.values()) {
    for (const rule of rules) {
      for (const [line, fault] of rule(file, files)) faults.push(`src/${file.path}:${line} ${fault}`);
    }
  }
  return faults;
}

function read(path: string, text: string): File {
  const found = scan(path, text);
  return { path, room: roomOf(path), isTest: path.endsWith(".test.ts"), scan: found, movers: movers(found) };
}

function roomOf(path: string): string {
  return path.split("/")[0] ?? path;
}

const vague = /^(?:utils?|helpers?|types?|managers?|common|misc|shared)$/;
const doorFiles = [
  "index.ts",
  "testing/index.ts",
  "http/index.ts",
  "outbox/brokers/rabbitmq/index.ts",
  "crowd/marketplaces/mturk/index.ts",
];

const named: Rule = function* (file) {
  const name = posix.basename(file.path).replace(/(?:\.test)?\.ts$/, "");
  if (rooms[file.room] === undefined && doors[file.room] === undefined) {
    yield [
      1,
      `stands in no room; the rooms are ${Object.keys(rooms).join(", ")}; before them ${Object.keys(doors).join(", ")}`,
    ];
  }
  if (vague.test(name)) yield [1, `is called ${name}; name it after what it does, and put a type beside what makes it`];
  if (name === "index" && !doorFiles.includes(file.path)) {
    yield [1, "is no door of the package; inside, import the file that defines the thing"];
  }
};

const importsRooms: Rule = function* (file) {
  const own = rooms[file.room]?.may ?? doors[file.room];
  if (own === undefined) return;
  const may = isPrivate(file.path) ? [...own, "store"] : own; // A statement may be made of parts of others.
  for (const each of file.scan.imports.filter(({ from }) => from.startsWith("."))) {
    const target = resolve(file, each);
    if (target.startsWith("..")) yield [each.line, `imports ${each.from}; nothing outside src/ is in the package`];
    else if (doors[target] !== undefined || posix.basename(target) === "index.ts")
      yield [each.line, `imports ${target}; ${belongs("index.ts")}`];
    else if (roomOf(target) !== file.room && isPrivate(target) && slices.includes(file.room)) {
      yield [each.line, `imports ${target}; a line that touches a row of ${roomOf(target)}/ belongs there`];
    } else if (roomOf(target) !== file.room && !allows(may, target, each.typeOnly)) {
      const onlyTypes = allows(may, target, true) ? "more than types of " : "";
      yield [each.line, `imports ${onlyTypes}${target}; ${belongs(roomOf(target))}`];
    }
  }
};

function resolve(file: File, { from }: Import): string {
  return posix.normalize(posix.join(posix.dirname(file.path), from));
}

/** The SQL of a slice, which other slices know by its verbs. */
function isPrivate(target: string): boolean {
  const [room = "", folder = ""] = target.split("/");
  return hasOwnSql(room) && sqlFolders.includes(folder);
}

function hasOwnSql(room: string): boolean {
  return slices.includes(room) || room === "inspect";
}

const sqlFolders = ["store", "views"];

function allows(may: readonly string[], target: string, typeOnly: boolean): boolean {
  const names = target.split("/");
  const entries = names.map((_, index) => names.slice(0, index + 1).join("/"));
  return entries.some((entry) => may.includes(entry) || (typeOnly && may.includes(`type ${entry}`)));
}

function importsPackages(dependencies: readonly string[]): Rule {
  return function* (file) {
    for (const { line, from } of file.scan.imports) {
      if (from.startsWith(".") || from.startsWith("node:")) continue;
      const name = from.split("/", from.startsWith("@") ? 2 : 1).join("/");
      const place = packages[name];
      if (place !== undefined && !file.path.startsWith(place)) {
        yield [line, `imports ${name}; a line that needs it belongs in ${place}`];
      } else if (!dependencies.includes(name) && !file.isTest) {
        yield [line, `imports ${name}, which is no dependency of the package: users would not have it`];
      }
    }
  };
}

const pure: Rule = function* (file) {
  if (!pureRooms.includes(file.room) || file.isTest) return;
  const remedy = `${file.room}/ is pure: take it as an argument, or move the line to kernel/`;
  for (const { line, from } of file.scan.imports) {
    if (from.startsWith("node:") && pureImports[file.path] !== from) yield [line, `imports ${from}; ${remedy}`];
  }
  for (const { line, name } of file.scan.uses) {
    const used = impure.find((each) => each === name || (each === "process" && name.startsWith("process.")));
    if (used !== undefined) yield [line, `uses ${used}; ${remedy}`];
  }
};

/** A migration is a script, and the name of a test's database an identifier: neither can take parameters. */
const composes = ["store/port/migrate.ts", "testing/"];

const statements: Rule = function* (file) {
  if (file.isTest) return;
  for (const { line, text, tag, composed } of file.scan.texts) {
    const tagged = tag === "sql" || tag === "part";
    if (!tagged && !isSql(text)) continue;
    const folder = sqlFolderOf(file.path);
    if (folder === undefined && file.room !== "testing") {
      yield [line, "holds a statement; it belongs in store/, or in views/ when it only shows"];
    } else if (folder !== "store" && file.room !== "testing" && writesOrLocks(text)) {
      yield [line, "writes or locks; such a statement belongs in store/"];
    }
    if (composed && !tagged && !composes.some((place) => file.path.startsWith(place))) {
      yield [line, "composes a statement; values go through the sql tag, and two shapes are two statements"];
    }
  }
};

/** The folder of a file's statements: of the kernel's tables, of a slice's own, or of the checks of them all. */
function sqlFolderOf(path: string): string | undefined {
  const [room = "", folder = ""] = path.split("/");
  if (path.startsWith("inspect/verify/")) return "views";
  return sqlFolders.find((name) => name === room || (name === folder && hasOwnSql(room)));
}

/** All changes of state come through the commit, so that none is without its journal row. */
const moves: Rule = function* (file, files) {
  for (const { line, text } of file.scan.texts) {
    if (isMove(text) && file.room !== "store" && !file.isTest) {
      yield [line, "writes an instance or the journal; such a statement belongs in store/, called by kernel/commit/"];
    }
  }
  if (file.path.startsWith("kernel/commit/")) return;
  for (const each of file.scan.imports.filter(({ from, typeOnly }) => from.startsWith(".") && !typeOnly)) {
    const target = files.get(resolve(file, each));
    const taken = target?.movers.filter((name) => each.names.includes(name) || each.names.includes("*")) ?? [];
    for (const name of taken) {
      yield [
        each.line,
        `imports ${name} from ${target?.path}; a line that moves an instance belongs in kernel/commit/`,
      ];
    }
  }
};
