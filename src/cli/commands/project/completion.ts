import { Argument, type Command } from "commander";
import type { Act } from "../../program.ts";
import { completionFor, type Shell, shells } from "../../show/completion.ts";

const examples = `
Examples:
  source <(pawl completion bash)                                      in ~/.bashrc
  source <(pawl completion zsh)                                       in ~/.zshrc
  pawl completion fish >~/.config/fish/completions/pawl.fish          once
`;

export function addCompletion(program: Command, act: Act): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>").choices(shells))
    .addHelpText("after", examples)
    .action(
      act(async ({ terminal }, _options, shell) => {
        terminal.print(completionFor(shell as Shell, program).trimEnd());
      }),
    );
}
