import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseAst } from "vite";

// biome-ignore lint/suspicious/noExplicitAny: a node of a syntax tree, of any kind.
type Node = any;

interface Module {
  readonly file: string;
  /** Declarations of types, functions and classes by their names. */
  readonly declared: Map<string, Node>;
  /** Imported names: where they come from, and what they are called there. */
  readonly imported: Map<string, { from: string; name: string }>;
  readonly exported: Map<string, { from: string | undefined; name: string }>;
}

/** What Pawl makes itself, also from definitions, whose functions are found there. */
const made = new Set([
  ...[
    "AnyLifecycle",
    "AnyJob",
    "AnyQueue",
    "AnyCrowd",
    "AnySchedule",
    "Lifecycle",
    "Job",
    "Queue",
    "Crowd",
    "Schedule",
  ],
  ...["LifecycleModel", "Asked", "Pawl", "Tx", "Work", "Step", "Effect", "Kernel", "Verbs", "CallbackReceiver"],
]);

/**
 * Every function that a user of the package supplies, as `Type.member` or `function(parameter)`: found by following the types
 * of all parameters of all exports. What a user's function is given comes from Pawl, and what it returns comes from the user
 * again.
 */
export function userFunctions(root: string, entries: readonly string[]): string[] {
  const modules = new Map<string, Module>();
  const found = new Set<string>();
  const seen = new Set<string>();
  const load = (file: string): Module => {
    const known = modules.get(file);
    if (known !== undefined) return known;
    const module = read(file);
    modules.set(file, module);
    return module;
  };
  const locate = (module: Module, name: string): { module: Module; node: Node } | undefined => {
    const own = module.declared.get(name);
    if (own !== undefined) return { module, node: own };
    const at = module.imported.get(name) ?? module.exported.get(name);
    if (at?.from === undefined || !at.from.startsWith(".")) return undefined;
    const other = load(resolve(dirname(module.file), at.from));
    const renamed = other.exported.get(at.name);
    return renamed?.from === undefined && renamed !== undefined ? locate(other, renamed.name) : locate(other, at.name);
  };

  /** `given` tells whether the value comes from the user. */
  const walk = (module: Module, node: Node, given: boolean, label: string): void => {
    if (node === null || node === undefined) return;
    switch (node.type) {
      case "TSTypeAnnotation":
        walk(module, node.typeAnnotation, given, label);
        return;
      case "TSFunctionType":
        if (given) found.add(label);
        for (const one of node.params) walk(module, one.typeAnnotation, !given, `${label}(${one.name ?? "…"})`);
        walk(module, node.returnType, given, `${label}()`);
        return;
      case "TSTypeReference":
      case "TSInterfaceHeritage":
      case "TSClassImplements":
        refer(module, node, given, label);
        return;
      case "TSPropertySignature":
        walk(module, node.typeAnnotation, given, `${label}.${node.key.name ?? node.key.value}`);
        return;
      case "TSMethodSignature": {
        const name = `${label}.${node.key.name ?? node.key.value}`;
        if (given) found.add(name);
        for (const one of node.params) walk(module, one.typeAnnotation, !given, `${name}(${one.name ?? "…"})`);
        walk(module, node.returnType, given, `${name}()`);
        return;
      }
      default:
        for (const child of childrenOf(node)) walk(module, child, given, label);
    }
  };

  const refer = (module: Module, node: Node, given: boolean, label: string): void => {
    const name: string = (node.typeName ?? node.expression)?.name;
    for (const one of node.typeArguments?.params ?? []) walk(module, one, given, label);
    if (name === undefined || (given && made.has(name))) return;
    if (name === "StandardSchemaV1") {
      if (given) found.add("StandardSchemaV1.validate");
      return;
    }
    const at = locate(module, name);
    if (at === undefined) return;
    declare(at.module, at.node, given, name);
  };

  const declare = (module: Module, node: Node, given: boolean, name: string): void => {
    const key = `${module.file} ${name} ${given}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (node.type === "TSInterfaceDeclaration") {
      for (const one of node.extends ?? []) walk(module, one, given, name);
      for (const one of node.typeParameters?.params ?? []) walk(module, one.constraint, given, name);
      for (const one of node.body.body) walk(module, one, given, name);
    } else if (node.type === "TSTypeAliasDeclaration") {
      for (const one of node.typeParameters?.params ?? []) walk(module, one.constraint, given, name);
      walk(module, node.typeAnnotation, given, name);
    } else if (node.type === "FunctionDeclaration" || node.type === "TSDeclareFunction")
      callable(module, node, given, name);
    else if (node.type === "ClassDeclaration" && !given) {
      for (const member of node.body.body) {
        const own = member.key?.name;
        const isOwn =
          member.key?.type === "PrivateIdentifier" || ["protected", "private"].includes(member.accessibility);
        if (isOwn || own === "constructor" || own === undefined) continue;
        if (member.type === "MethodDefinition") callable(module, member.value, given, `${name}.${own}`);
        else walk(module, member.typeAnnotation, given, `${name}.${own}`);
      }
      const parent = node.superClass?.name === undefined ? undefined : locate(module, node.superClass.name);
      if (parent !== undefined) declare(parent.module, parent.node, given, node.superClass.name);
    }
  };

  const callable = (module: Module, node: Node, given: boolean, name: string): void => {
    for (const one of node.typeParameters?.params ?? []) walk(module, one.constraint, !given, name);
    for (const one of node.params) {
      const bound = one.type === "AssignmentPattern" ? one.left : one.type === "RestElement" ? one.argument : one;
      const type = bound.typeAnnotation ?? one.typeAnnotation;
      walk(module, type, !given, `${name}(${bound.name ?? "…"})`);
    }
    walk(module, node.returnType, given, `${name}()`);
  };

  for (const entry of entries) {
    const module = load(join(root, entry));
    for (const name of new Set([...module.exported.keys(), ...module.declared.keys()])) {
      const at = locate(module, name);
      if (at !== undefined) declare(at.module, at.node, false, name);
    }
  }
  return [...found].sort();
}

function childrenOf(node: Node): Node[] {
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === "type" || key === "key" || typeof value !== "object" || value === null) return [];
    return (Array.isArray(value) ? value : [value]).filter((one: Node) => typeof one?.type === "string");
  });
}

function read(file: string): Module {
  const module: Module = { file, declared: new Map(), imported: new Map(), exported: new Map() };
  for (const node of parseAst(readFileSync(file, "utf8"), { lang: "ts" } as never).body as Node[]) {
    const declaration = node.type === "ExportNamedDeclaration" ? (node.declaration ?? undefined) : node;
    if (declaration?.id?.name !== undefined) module.declared.set(declaration.id.name, declaration);
    if (node.type === "ImportDeclaration") {
      for (const one of node.specifiers) {
        const name = one.imported?.name ?? "default";
        module.imported.set(one.local.name, { from: node.source.value, name });
      }
    }
    if (node.type === "ExportNamedDeclaration" && node.declaration === null) {
      for (const one of node.specifiers) {
        module.exported.set(one.exported.name, { from: node.source?.value, name: one.local.name });
      }
    }
  }
  return module;
}
