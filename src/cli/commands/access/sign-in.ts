import type { Command } from "commander";
import type { Act, Context } from "../../program.ts";
import { checkedUrl, remoteOf } from "../../project/settings.ts";
import { printJson, visible } from "../../show/terminal.ts";
import { reached } from "../reached.ts";

interface Given {
  readonly role: string;
  readonly name?: string;
  readonly at?: string;
}

const standardUrl = "http://127.0.0.1:7295";

export function addSignIn(program: Command, act: Act): void {
  program
    .command("sign-in")
    .description("print a link that signs in to the console once; it expires after 15 minutes")
    .option("--role <role>", "viewer, operator, admin or labeler", "operator")
    .option("--name <name>", "the name that the journal records (default: your user name)")
    .option("--at <url>", `URL of the console (default: --url, the running process, or ${standardUrl})`)
    .action(act<Given>((context, given) => signIn(context, given)));
}

async function signIn(context: Context, { role, name = ownName(context.env), at }: Given): Promise<undefined> {
  const { terminal, env } = context;
  const given = at === undefined ? remoteOf(context.flags, env)?.url : checkedUrl(at);
  const made = await reached(context, (pawl) => pawl.call("signInCode", { name, role }));
  const link = `${given ?? made.url ?? standardUrl}${made.path}`;
  if (terminal.json) {
    printJson(terminal, { url: link, name, role });
    return;
  }
  terminal.print(link);
  if (given === undefined && made.url === null)
    terminal.note(`No running console was found; the link assumes ${standardUrl}. Use --at for another URL.`);
  terminal.note(`The link signs ${visible(name)} in as ${role}. It works once and expires after 15 minutes.`);
}

function ownName(env: NodeJS.ProcessEnv): string {
  return env.USER || env.USERNAME || env.LOGNAME || "admin";
}
