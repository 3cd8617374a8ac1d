import type { Command } from "commander";
import type { TokenAnswer } from "../../../http/contract.ts";
import type { Act, Context } from "../../program.ts";
import { ago, fromNow, when } from "../../show/moments.ts";
import { type Column, printJson, printList, visible } from "../../show/terminal.ts";
import { reached } from "../reached.ts";

interface Given {
  readonly role: string;
  readonly labeler?: string;
  readonly expiresIn?: string;
}

export function addToken(program: Command, act: Act): void {
  const token = program.command("token").description("give out, list and take back the tokens of the HTTP API");
  token
    .command("list", { isDefault: true })
    .description("list the tokens: whose they are, what they may do, and when they were used last")
    .action(act((context) => list(context)));
  token
    .command("create")
    .description("make a token; its secret is printed here and never again")
    .argument("<name>", "who or what it is for; it stands in the journal")
    .requiredOption("--role <role>", "viewer, operator, admin, labeler or service")
    .option("--labeler <id>", "who a labeler is in the queues; the name unless given")
    .option("--expires-in <duration>", "how long it counts, such as 30d; until it is revoked unless given")
    .action(act<Given>((context, given, name) => create(context, { name: name!, ...given })));
  token
    .command("revoke")
    .description("take a token back: it and the sessions that it opened count no more")
    .argument("<id>")
    .action(act((context, _, id) => revoke(context, id!)));
}

export function addSession(program: Command, act: Act): void {
  const session = program.command("session").description("list and end the sessions of browsers that are signed in");
  session
    .command("list", { isDefault: true })
    .description("list the open sessions: whose they are, what they may do, and when they were used last")
    .action(act((context) => listSessions(context)));
  session
    .command("revoke")
    .description("end a session: its browser has to sign in anew")
    .argument("<id>")
    .action(act((context, _, id) => revokeSession(context, id!)));
}

async function listSessions(context: Context): Promise<undefined> {
  const { terminal } = context;
  const all = await reached(context, (pawl) => pawl.call("sessions", {}));
  printList(terminal, all, columns, "No browser is signed in.");
}

async function revokeSession(context: Context, id: string): Promise<undefined> {
  const { terminal } = context;
  await reached(context, (pawl) => pawl.call("revokeSession", { id }));
  if (terminal.json) printJson(terminal, { id, revoked: true });
  else terminal.note("The session has ended.");
}

async function list(context: Context): Promise<undefined> {
  const { terminal } = context;
  const all = await reached(context, (pawl) => pawl.call("tokens", {}));
  printList(terminal, all, columns, "No token was given out. Make one: pawl token create");
}

/** The secret alone on stdout, so that a script can keep it. */
async function create(context: Context, args: Given & { readonly name: string }): Promise<undefined> {
  const { terminal } = context;
  const made = await reached(context, (pawl) => pawl.call("createToken", { ...args }));
  if (terminal.json) {
    printJson(terminal, made);
    return;
  }
  terminal.print(made.secret);
  const until = made.expiresAt === null ? "until it is revoked" : `until ${made.expiresAt}`;
  terminal.note(`${visible(made.name)} may come in as ${made.role} with it, ${until}. It is not shown again.`);
  terminal.note(`Take it back with: pawl token revoke ${made.id}`);
}

async function revoke(context: Context, id: string): Promise<undefined> {
  const { terminal } = context;
  await reached(context, (pawl) => pawl.call("revokeToken", { id }));
  if (terminal.json) printJson(terminal, { id, revoked: true });
  else terminal.note("It counts no more.");
}

const columns: readonly Column<TokenAnswer>[] = [
  { title: "id", text: (one) => one.id },
  { title: "name", text: (one) => one.name, shown: (one, paint) => paint.bold(visible(one.name)) },
  { title: "role", text: (one) => one.role },
  { title: "labeler", text: (one) => one.labeler ?? "" },
  { title: "made", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
  { title: "ends", text: (one) => one.expiresAt ?? "", shown: (one, paint) => when(one.expiresAt, fromNow, paint) },
  { title: "used", text: (one) => one.usedAt ?? "", shown: (one, paint) => when(one.usedAt, ago, paint) },
];
