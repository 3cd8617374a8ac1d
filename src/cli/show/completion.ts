import type { Command } from "commander";

/** A command with its words: its subcommands, and its options with those of the whole program. */
interface Place {
  /** From the program down, such as `["instance", "list"]`; empty for the program. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly string[];
  readonly options: readonly { readonly long: string; readonly description: string }[];
}

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** A script that makes a shell complete the commands and options of a program. */
export function completionFor(shell: Shell, program: Command): string {
  const places = placesOf(program, []);
  if (shell === "fish") return fish(program.name(), places);
  const script = bash(program.name(), places);
  // Zsh reads the script of bash.
  return shell === "zsh" ? `autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${script}` : script;
}

function placesOf(command: Command, path: readonly string[]): Place[] {
  const options = command.options.flatMap(({ long, description }) => (long ? [{ long, description }] : []));
  const place = {
    path,
    description: command.description(),
    commands: command.commands.map((one) => one.name()),
    options: [...options, { long: "--help", description: "print this help" }],
  };
  return [place, ...command.commands.flatMap((one) => placesOf(one, [...path, one.name()]))];
}

function bash(name: string, places: readonly Place[]): string {
  const [top, ...below] = places;
  const globals = top!.options.map(({ long }) => long);
  const words = ({ commands, options }: Place) =>
    [...new Set([...commands, ...options.map(({ long }) => long), ...globals])].join(" ");
  return lines([
    `_${name}() {`,
    `  local word path="" words="" current="\${COMP_WORDS[COMP_CWORD]}"`,
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
    '    case "$path/$word" in',
    `      ${below.map(({ path }) => `/${path.join("/")}`).join("|")}) path="$path/$word" ;;`,
    "    esac",
    "  done",
    '  case "$path" in',
    ...places.map(
      (place) => `    ${place.path.length === 0 ? '""' : `/${place.path.join("/")}`}) words="${words(place)}" ;;`,
    ),
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    `complete -o default -F _${name} ${name}`,
  ]);
}

function fish(name: string, places: readonly Place[]): string {
  return lines(
    places.flatMap(({ path, commands, options }) => {
      const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
      const notBelow = commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${commands.join(" ")}`];
      const when = (conditions: readonly string[]) =>
        conditions.length === 0 ? "" : ` -n ${quoted(conditions.join("; and "))}`;
      const below = places.filter(
        (one) => one.path.length === path.length + 1 && path.every((word, at) => one.path[at] === word),
      );
      return [
        ...below.map(
          (one) =>
            `complete -c ${name} -f${when([...seen, ...notBelow])} -a ${one.path.at(-1)} -d ${quoted(one.description)}`,
        ),
        ...options.map(
          ({ long, description }) => `complete -c ${name}${when(seen)} -l ${long.slice(2)} -d ${quoted(description)}`,
        ),
      ];
    }),
  );
}

/** In single quotes, in which fish reads a backslash before a quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
