import { get, part } from "../../api.ts";
import { save } from "../../copy.ts";

const pageSize = 1_000;

/** Fetches all labels of a queue that count, and lets the browser save them as JSON lines. */
export async function exportLabels(queue: string): Promise<void> {
  const lines: string[] = [];
  for (let after: string | undefined; ; ) {
    const rows = await get(`/queues/${part(queue)}/export`, { limit: pageSize, after });
    lines.push(...rows.map((row) => JSON.stringify(row)));
    after = rows.at(-1)?.id;
    if (rows.length < pageSize) break;
  }
  if (lines.length === 0) throw new Error("No labels yet.");
  save(`${queue}-labels.jsonl`, `${lines.join("\n")}\n`, "application/jsonl");
}
