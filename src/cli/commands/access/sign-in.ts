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
    .description("print a link that signs in to the console once, within a quarter of an hour")
    .option("--role <role>", "viewer, operator, admin or labeler", "operator")
    .option("--name <name>", "who signs in; it stands in the journal. You, unless given")
    .option("--at <url>", `where the console is; that of --url or of the running process, else ${standardUrl}`)
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
    terminal.note(`No running console was found; the link assumes ${standardUrl}. Give --at if it is elsewhere.`);
  terminal.note(`It signs ${visible(name)} in as ${role}, once, within a quarter of an hour.`);
}

function ownName(env: NodeJS.ProcessEnv): string {
  return env.USER || env.USERNAME || env.LOGNAME || "admin";
}
