import type { Command } from "commander";
import type { TokenResponse } from "../../../http/contract.ts";
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
  const token = program.command("token").description("create, list and revoke tokens of the HTTP API");
  token
    .command("list", { isDefault: true })
    .description("list tokens with their names, roles and last use")
    .action(act((context) => list(context)));
  token
    .command("create")
    .description("create a token; its secret is printed once")
    .argument("<name>", "the person or program that uses it; the journal records this name")
    .requiredOption("--role <role>", "viewer, operator, admin, labeler or service")
    .option("--labeler <id>", "the labeler's id in the queues (default: the name)")
    .option("--expires-in <duration>", "lifetime, such as 30d (default: until it is revoked)")
    .action(act<Given>((context, given, name) => create(context, { name: name!, ...given })));
  token
    .command("revoke")
    .description("revoke a token and the sessions that it opened")
    .argument("<id>")
    .action(act((context, _, id) => revoke(context, id!)));
}

export function addSession(program: Command, act: Act): void {
  const session = program.command("session").description("list and end browser sessions");
  session
    .command("list", { isDefault: true })
    .description("list open sessions with their names, roles and last use")
    .action(act((context) => listSessions(context)));
  session
    .command("revoke")
    .description("end a session; its browser must sign in again")
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
  else terminal.note("Session ended.");
}

async function list(context: Context): Promise<undefined> {
  const { terminal } = context;
  const all = await reached(context, (pawl) => pawl.call("tokens", {}));
  printList(terminal, all, columns, "No tokens. Create one: pawl token create");
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
  terminal.note(`It authenticates ${visible(made.name)} as ${made.role}, ${until}. It is not shown again.`);
  terminal.note(`Revoke it with: pawl token revoke ${made.id}`);
}

async function revoke(context: Context, id: string): Promise<undefined> {
  const { terminal } = context;
  await reached(context, (pawl) => pawl.call("revokeToken", { id }));
  if (terminal.json) printJson(terminal, { id, revoked: true });
  else terminal.note("Token revoked.");
}

const columns: readonly Column<TokenResponse>[] = [
  { title: "id", text: (one) => one.id },
  { title: "name", text: (one) => one.name, shown: (one, paint) => paint.bold(visible(one.name)) },
  { title: "role", text: (one) => one.role },
  { title: "labeler", text: (one) => one.labeler ?? "" },
  { title: "made", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
  { title: "ends", text: (one) => one.expiresAt ?? "", shown: (one, paint) => when(one.expiresAt, fromNow, paint) },
  { title: "used", text: (one) => one.usedAt ?? "", shown: (one, paint) => when(one.usedAt, ago, paint) },
];
