import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Json } from "pawl";
import { samplesFromCsv, samplesFromJsonl } from "pawl/formats";

/** A sample, its true label, and whether the queue knows that label. */
export interface Example {
  readonly key: string;
  readonly content: Readonly<Record<string, Json>>;
  /** The label of an attentive labeler. Only the simulation knows it, and the queue if it is gold. */
  readonly truth: Readonly<Record<string, Json>>;
  readonly isGold: boolean;
}

const data = (name: string) => new URL(`data/${name}`, import.meta.url);

/** Short texts, from JSON Lines. */
export async function loadMessages(): Promise<Example[]> {
  const examples: Example[] = [];
  for await (const line of samplesFromJsonl(createReadStream(data("messages.jsonl")), { key: "id" })) {
    if (!line.ok) throw new Error(`messages.jsonl, line ${line.line}: ${line.problem} ${line.remedy}`);
    const { text = "", mood = "", urgency = 1, gold = false } = line.sample.data;
    examples.push({ key: line.sample.key!, content: { text }, truth: { mood, urgency }, isGold: gold === true });
  }
  return examples;
}

/** Small pictures, from a CSV file that names them. */
export async function loadPictures(): Promise<Example[]> {
  const columns = { count: "number", gold: "boolean" } as const;
  const examples: Example[] = [];
  for await (const line of samplesFromCsv(createReadStream(data("pictures.csv")), { key: "id", columns })) {
    if (!line.ok) throw new Error(`pictures.csv, line ${line.line}: ${line.problem} ${line.remedy}`);
    const { file = "", shape = "", count = 0, gold = false } = line.sample.data;
    const svg = await readFile(data(`pictures/${String(file)}`), "base64");
    // Small enough to be inlined; otherwise `image` would be a link. The file is for readers in a terminal, in this
    // folder.
    const content = { image: `data:image/svg+xml;base64,${svg}`, file: `data/pictures/${String(file)}` };
    examples.push({ key: line.sample.key!, content, truth: { shape, count }, isGold: gold === true });
  }
  return examples;
}
