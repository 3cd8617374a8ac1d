import type { Command } from "commander";
import { PawlError } from "../../base/errors.ts";
import type { SignInAnswer } from "../../http/contract.ts";
import type { Act, Context } from "../program.ts";
import { printJson, visible } from "../terminal.ts";
import { reached } from "./reached.ts";

interface Given {
  readonly role: string;
  readonly name?: string;
  readonly url?: string;
}

const standardUrl = "http://127.0.0.1:7295";

export function addSignIn(program: Command, act: Act): void {
  program
    .command("sign-in")
    .description("print a link that signs in to the console once, within a quarter of an hour")
    .option("--role <role>", "viewer, operator, admin or labeler", "admin")
    .option("--name <name>", "who signs in; it stands in the journal. You, unless given")
    .option("--url <url>", `where the console is; the running process knows, else PAWL_URL or ${standardUrl}`)
    .action(act<Given>((context, given) => signIn(context, given)));
}

async function signIn(context: Context, { role, name = ownName(context.env), url }: Given): Promise<undefined> {
  const { terminal, env } = context;
  const given = url === undefined ? undefined : checkedUrl(url);
  const made = (await reached(context, (pawl) => pawl.call("signInCode", { name, role }))) as SignInAnswer;
  const link = `${given ?? made.url ?? checkedUrl(env.PAWL_URL || standardUrl)}${made.path}`;
  if (terminal.json) {
    printJson(terminal, { url: link, name, role });
    return;
  }
  terminal.print(link);
  terminal.note(`It signs ${visible(name)} in as ${role}, once, within a quarter of an hour.`);
}

function ownName(env: NodeJS.ProcessEnv): string {
  return env.USER || env.USERNAME || env.LOGNAME || "admin";
}

/** Without a stroke at its end, as a path follows. */
function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "")
    return url.href.replace(/\/$/, "");
  throw new PawlError("option_invalid", `${JSON.stringify(text)} is not where a console is; write ${standardUrl}.`);
}
