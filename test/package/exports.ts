import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseSync } from "oxc-parser";

/** What is read of a node of a syntax tree, whatever its kind. */
interface Node {
  readonly type: string;
  readonly source?: { readonly value: string } | null;
  readonly specifiers?: readonly Specifier[];
  readonly exportKind?: string;
  readonly declaration?: Node | null;
  readonly id?: Named | null;
  readonly declarations?: readonly { readonly id: Named }[];
  readonly key?: { readonly type: string } | null;
  readonly accessibility?: string | null;
  readonly typeName?: Partial<Named>;
  readonly expression?: Partial<Named>;
  readonly superClass?: Partial<Named> | null;
}

interface Named {
  readonly name: string;
}

interface Specifier {
  readonly local: Named;
  readonly imported?: Named;
  readonly exported?: Named;
  readonly exportKind?: string;
}

/** Where a name is declared. */
type Place = `${string}#${string}`;

interface Module {
  readonly declared: Map<string, Node[]>;
  readonly imported: Map<string, readonly [from: string, name: string]>;
  readonly exported: Map<string, { readonly from: string; readonly name: string; readonly isType: boolean }>;
}

/** The modules of a tree, whether sources or declarations, and what they export. */
export class Modules {
  readonly #read = new Map<string, Module>();
  readonly #suffix: string;

  /** @param suffix How its files end: `.ts` or `.d.ts`. */
  constructor(suffix: ".ts" | ".d.ts") {
    this.#suffix = suffix;
  }

  /** The names that a module exports: values as they are called, and types as `type Name`. */
  exportsOf(path: string): string[] {
    return [...this.#module(path).exported].map(([name, { isType }]) => (isType ? `type ${name}` : name)).sort(byName);
  }

  /** Where each of the exports of a module is declared. */
  placesOf(path: string): Set<Place> {
    return new Set([...this.#module(path).exported.keys()].flatMap((name) => this.#exportedPlace(path, name) ?? []));
  }

  /** The types of this package that the declaration of a name mentions. */
  typesNamedAt(place: Place): Set<Place> {
    const [path = "", name = ""] = place.split("#");
    const names = new Set<string>();
    for (const node of this.#module(path).declared.get(name) ?? []) collectTypes(node, names);
    return new Set([...names].flatMap((one) => this.#place(path, one) ?? []));
  }

  #module(path: string): Module {
    const known = this.#read.get(path);
    if (known !== undefined) return known;
    const found: Module = { declared: new Map(), imported: new Map(), exported: new Map() };
    this.#read.set(path, found);
    for (const node of parseSync(path, readFileSync(path, "utf8")).program.body as unknown as Node[])
      this.#take(path, node, found);
    return found;
  }

  #take(path: string, node: Node, { declared, imported, exported }: Module): void {
    if (node.source && !node.source.value.startsWith(".")) return;
    const from = node.source ? this.#target(path, node.source.value) : path;
    for (const { local, imported: original, exported: name, exportKind } of node.specifiers ?? []) {
      if (name === undefined) imported.set(local.name, [from, original?.name ?? "default"]);
      else {
        const isType = node.exportKind === "type" || exportKind === "type";
        exported.set(name.name, { from, name: local.name, isType });
      }
    }
    const isExport = node.type === "ExportNamedDeclaration";
    const declaration = isExport ? node.declaration : node;
    if (!declaration) return;
    const ids = declaration.id ? [declaration.id] : (declaration.declarations ?? []).map((one) => one.id);
    for (const { name } of ids) {
      declared.set(name, [...(declared.get(name) ?? []), declaration]);
      const isType = /^TS(?:Interface|TypeAlias)Declaration$/.test(declaration.type);
      if (isExport) exported.set(name, { from: path, name, isType });
    }
  }

  #target(path: string, source: string): string {
    return resolve(dirname(path), source).replace(/(?:\.d)?\.[jt]s$/, "") + this.#suffix;
  }

  #place(path: string, name: string): Place | undefined {
    const { declared, imported } = this.#module(path);
    if (declared.has(name)) return `${path}#${name}`;
    const found = imported.get(name);
    return found && this.#exportedPlace(...found);
  }

  #exportedPlace(path: string, name: string): Place | undefined {
    const found = this.#module(path).exported.get(name);
    if (found === undefined) return undefined;
    return found.from === path ? this.#place(path, found.name) : this.#exportedPlace(found.from, found.name);
  }
}

function byName(one: string, other: string): number {
  const [left, right] = [one, other].map((name) => name.replace("type ", "").toLowerCase());
  return left! < right! ? -1 : 1;
}

function collectTypes(node: unknown, names: Set<string>): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const one of node) collectTypes(one, names);
    return;
  }
  const { type, key, accessibility, typeName, expression, superClass } = node as Node;
  if (key?.type === "PrivateIdentifier" || accessibility === "private") return;
  const heirs = ["TSInterfaceHeritage", "TSClassImplements"];
  for (const name of [typeName?.name, heirs.includes(type) ? expression?.name : undefined, superClass?.name])
    if (name !== undefined) names.add(name);
  for (const one of Object.values(node)) collectTypes(one, names);
}
