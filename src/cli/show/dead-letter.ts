import type { DeadLetterResponse } from "../../http/contract.ts";
import { ago } from "./moments.ts";
import { type Column, type Paint, printJson, type Terminal, visible } from "./terminal.ts";

/** A dead letter as a row of a table. */
export const deadLetterColumns: readonly Column<DeadLetterResponse>[] = [
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "lifecycle", text: (one) => one.lifecycle, shown: (one, paint) => paint.bold(one.lifecycle) },
  { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
  { title: "kind", text: (one) => one.kind },
  { title: "origin", text: (one) => one.origin },
  { title: "reason", text: (one) => one.reason, shown: (one, paint) => paint.red(visible(one.reason)) },
  { title: "status", text: (one) => one.status, shown: (one, paint) => coloured(one.status, paint) },
  { title: "created", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
];

function coloured(status: string, paint: Paint): string {
  return status === "open" ? paint.yellow(status) : status === "requeued" ? paint.green(status) : paint.dim(status);
}

const givenUp = {
  instance: "failed in",
  effect: "`after` of",
  message: "the message",
  broker: "the message in",
};

/** Prints a dead letter in full. */
export function printDeadLetter(terminal: Terminal, letter: DeadLetterResponse): undefined {
  if (terminal.json) {
    printJson(terminal, letter);
    return;
  }
  const name = `${letter.lifecycle} ${letter.key ?? letter.instance ?? ""}`.trimEnd();
  const lines: [title: string, text: string | null][] = [
    ["about", `${name}, ${givenUp[letter.kind]} ${letter.origin}`],
    ["instance", letter.instance],
    ["reason", letter.reason],
    ["error", letter.error === null ? null : `${letter.error.name}: ${letter.error.message}`],
    ["group", letter.fingerprint],
    ["attempts", String(letter.attempts)],
    ["status", letter.status],
    ["created", letter.createdAt],
    [
      "decided",
      letter.decidedAt === null
        ? null
        : [letter.decidedAt, letter.decidedBy, letter.decision].filter(Boolean).join(", "),
    ],
    ["payload", letter.payload === null ? null : JSON.stringify(letter.payload)],
    ["details", letter.details === null ? null : JSON.stringify(letter.details)],
  ];
  for (const [title, text] of lines) {
    if (text !== null) terminal.print(`${terminal.paint.dim(title.padEnd(9))} ${visible(text)}`);
  }
  if (letter.error?.stack !== undefined) terminal.print(terminal.paint.dim(visible(letter.error.stack)));
}
