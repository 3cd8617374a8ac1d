import { type Node, parseSync, type Statement, Visitor } from "oxc-parser";

/** What the rules need to know of a source file. */
export interface Scan {
  readonly imports: readonly Import[];
  readonly texts: readonly QuotedText[];
  /** What the code reads or calls: `Date.now` for a member, `fetch()` for a call, `new Date()` for one without arguments. */
  readonly uses: readonly Use[];
  readonly declarations: readonly Declaration[];
}

export interface Import {
  readonly line: number;
  readonly from: string;
  /** The names as the other file gives them; `*` when all may be meant. */
  readonly names: readonly string[];
  readonly typeOnly: boolean;
}

interface QuotedText {
  readonly line: number;
  readonly offset: number;
  /** What is between the quotes; a `?` for each part that a template puts in. */
  readonly text: string;
  /** The tag of a template. */
  readonly tag: string | undefined;
  /** Made of parts at run time: a template with `${…}`, or a string with a `+` before or behind it. */
  readonly composed: boolean;
}

interface Use {
  readonly line: number;
  readonly name: string;
}

/** A function, class or variable of the file itself. */
interface Declaration {
  readonly name: string;
  readonly isExported: boolean;
  readonly texts: readonly string[];
  /** All names in it. */
  readonly names: ReadonlySet<string>;
}

export function scan(path: string, source: string): Scan {
  const { program, module, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const lineAt = (offset: number) => source.slice(0, offset).split("\n").length;

  const imports: Import[] = module.staticImports.map(({ start, moduleRequest, entries }) => ({
    line: lineAt(start),
    from: moduleRequest.value,
    names: entries.length === 0 ? ["*"] : entries.map(({ importName: { kind, name } }) => name ?? starOr(kind)),
    typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
  }));
  for (const { start, entries } of module.staticExports) {
    const from = entries[0]?.moduleRequest?.value;
    if (from === undefined) continue;
    const names = entries.map(({ importName }) => importName.name ?? "*");
    imports.push({ line: lineAt(start), from, names, typeOnly: entries.every(({ isType }) => isType) });
  }

  const texts: QuotedText[] = [];
  const uses: Use[] = [];
  const identifiers: { name: string; offset: number }[] = [];
  const tags = new Map<Node, string>();
  const glued = new Set<Node>();
  const importWhole = (start: number, from: Node, typeOnly: boolean) => {
    if (from.type === "Literal" && typeof from.value === "string")
      imports.push({ line: lineAt(start), from: from.value, names: ["*"], typeOnly });
  };
  new Visitor({
    ImportExpression: ({ start, source: from }) => importWhole(start, from, false),
    TSImportType: ({ start, source: from }) => importWhole(start, from, true),
    Identifier: ({ name, start }) => void identifiers.push({ name, offset: start }),
    MemberExpression({ start, object, property }) {
      if (object.type !== "Identifier") return;
      uses.push({
        line: lineAt(start),
        name: property.type === "Identifier" ? `${object.name}.${property.name}` : object.name,
      });
    },
    CallExpression({ start, callee }) {
      if (callee.type === "Identifier") uses.push({ line: lineAt(start), name: `${callee.name}()` });
    },
    NewExpression({ start, callee, arguments: given }) {
      if (callee.type === "Identifier" && given.length === 0)
        uses.push({ line: lineAt(start), name: `new ${callee.name}()` });
    },
    BinaryExpression({ operator, left, right }) {
      if (operator === "+") glued.add(left).add(right);
    },
    TaggedTemplateExpression({ tag, quasi }) {
      tags.set(quasi, source.slice(tag.start, tag.end));
    },
    Literal(node) {
      if (typeof node.value !== "string") return;
      const { start: offset, value: text } = node;
      texts.push({ line: lineAt(offset), offset, text, tag: undefined, composed: glued.has(node) });
    },
    TemplateLiteral(node) {
      const { start: offset, quasis, expressions } = node;
      const text = quasis.map(({ value }) => value.raw).join("?");
      const composed = expressions.length > 0 || glued.has(node);
      texts.push({ line: lineAt(offset), offset, text, tag: tags.get(node), composed });
    },
  }).visit(program);

  const declarations = program.body.flatMap((statement) => {
    const isWithin = ({ offset }: { offset: number }) => offset >= statement.start && offset < statement.end;
    const names = new Set(identifiers.filter(isWithin).map(({ name }) => name));
    const within = texts.filter(isWithin).map(({ text }) => text);
    const isExported = statement.type.startsWith("Export");
    return declaredIn(statement).map((name) => ({ name, isExported, texts: within, names }));
  });
  return { imports: imports.toSorted((one, other) => one.line - other.line), texts, uses, declarations };
}

function starOr(kind: string): string {
  return kind === "Default" ? "default" : "*";
}

function declaredIn(statement: Statement): string[] {
  const node =
    statement.type === "ExportNamedDeclaration" || statement.type === "ExportDefaultDeclaration"
      ? statement.declaration
      : statement;
  if (node?.type === "VariableDeclaration") {
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  }
  const isNamed = node?.type === "FunctionDeclaration" || node?.type === "ClassDeclaration";
  return isNamed && node.id != null ? [node.id.name] : [];
}
