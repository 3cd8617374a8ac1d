import { writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { messageOf, PawlError } from "../../../base/errors.ts";
import type { AnyLifecycle } from "../../../definition/language/public-types.ts";
import type { Act } from "../../program.ts";
import { printJson } from "../../show/terminal.ts";

interface Options {
  readonly mermaid?: boolean;
  readonly dot?: boolean;
  readonly svg?: boolean;
  readonly builtIns?: boolean;
  readonly output?: string;
}

export function addDiagram(program: Command, act: Act): void {
  program
    .command("diagram")
    .description("print the diagram of a lifecycle")
    .argument("[lifecycle]", "its name; optional if the config has only one")
    .addOption(new Option("--mermaid", "as Mermaid source (default)").conflicts(["dot", "svg"]))
    .addOption(new Option("--dot", "as DOT source for Graphviz").conflicts(["mermaid", "svg"]))
    .addOption(new Option("--svg", "as an SVG picture").conflicts(["mermaid", "dot"]))
    .option("--built-ins", "include fail, recover, restart and discard")
    .option("-o, --output <file>", "write it to a file")
    .action(
      act<Options>(async ({ terminal, flags, env, cwd }, options, name) => {
        const { loadProject } = await import("../../project/settings.ts");
        const { config } = await loadProject(flags, env, cwd);
        const { suggest } = await import("../../../definition/read/fault.ts");
        const lifecycle = choose(config.lifecycles, name, suggest);
        const text = await draw(lifecycle, options);
        if (options.output !== undefined) write(options.output, text);
        else if (terminal.json) printJson(terminal, { lifecycle: lifecycle.name, diagram: text });
        else terminal.print(text.trimEnd());
        return undefined;
      }),
    );
}

async function draw(lifecycle: AnyLifecycle, { dot, svg, builtIns }: Options): Promise<string> {
  const { diagram, diagramSvg } = await import("../../../definition/diagram.ts");
  if (svg === true) return await diagramSvg(lifecycle, { builtIns });
  return diagram(lifecycle, dot === true ? "dot" : "mermaid", { builtIns });
}

function choose(
  lifecycles: readonly AnyLifecycle[],
  name: string | undefined,
  suggest: (name: string, names: Iterable<string>) => string,
): AnyLifecycle {
  const names = lifecycles.map((one) => one.name);
  if (name === undefined && lifecycles.length === 1) return lifecycles[0]!;
  if (name === undefined) {
    throw new PawlError("option_invalid", `Name the lifecycle: ${names.join(", ") || "the config lists none"}.`);
  }
  const found = lifecycles.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new PawlError("lifecycle_unknown", `There is no lifecycle \`${name}\`. ${suggest(name, names)}`, { name });
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new PawlError("option_invalid", `The diagram cannot be written: ${messageOf(error)}.`, { path });
  }
}
