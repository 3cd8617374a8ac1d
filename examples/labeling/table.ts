import type { AnyQueue } from "pawl";
import {
  accuracyOnGold,
  agreementByLabeler,
  agreementOf,
  consensusOf,
  dawidSkene,
  type GivenLabel,
  labelShape,
  pickField,
} from "pawl/quality";
import type { Example } from "./samples.ts";

/** The labelers that are careless, and not just unlucky with a few samples. */
const enough = 0.75;

/** The quality of a queue's labels, as a table for a terminal. */
export function tableOf(queue: AnyQueue, labels: readonly GivenLabel[], examples: readonly Example[]): string {
  const shape = labelShape(queue.form);
  const gold = new Map(examples.filter(({ isGold }) => isGold).map(({ key, truth }) => [key, truth]));
  const onGold = new Map(accuracyOnGold(labels, gold, shape).map((accuracy) => [accuracy.labeler, accuracy]));
  const people = agreementByLabeler(labels, shape).map(({ labeler, labels: count, agreement }) => {
    const known = onGold.get(labeler);
    const [low, high] = known?.interval ?? [0, 1];
    const accuracy = known === undefined ? "–" : `${known.right} of ${known.labels}`;
    const between = known === undefined ? "–" : `${percent(low)} to ${percent(high)}`;
    return [labeler, String(count), percent(agreement), accuracy, between, high < enough ? "careless" : ""];
  });
  const { fields } = agreementOf(labels, shape);
  const lines = Object.entries(fields)
    .filter(([, { alpha }]) => alpha !== null)
    .map(([field, { alpha }]) => `${field}: alpha ${alpha!.toFixed(2)}`);
  return [
    `${queue.name}: ${labels.length} labels of ${new Set(labels.map(({ sample }) => sample)).size} samples · ${lines.join(" · ")}`,
    ...aligned([["labeler", "labels", "agrees", "right on gold", "accuracy", ""], ...people]).map(
      (line) => `  ${line}`,
    ),
    `  ${consensusLine(queue, labels, examples)}`,
  ].join("\n");
}

/** Known only to a simulation: whether the consensus is right. */
function consensusLine(queue: AnyQueue, labels: readonly GivenLabel[], examples: readonly Example[]): string {
  const shape = labelShape(queue.form);
  const [field] = Object.keys(examples[0]!.truth);
  const classes = dawidSkene(pickField(labels, field!)).samples;
  let [byMajority, ties, byDawidSkene, labeled] = [0, 0, 0, 0];
  for (const { key, truth } of examples) {
    const own = labels.filter(({ sample }) => sample === key).map(({ label }) => label);
    if (own.length === 0) continue;
    labeled++;
    const { value, tie } = consensusOf(own, shape).fields[field!]!;
    if (tie) ties++;
    else if (value === truth[field!]) byMajority++;
    if (classes.get(key)?.label === truth[field!]) byDawidSkene++;
  }
  const tied = ties === 0 ? "" : `, ${ties} tied`;
  return `${field} found: ${byMajority} of ${labeled} by majority${tied}, ${byDawidSkene} by Dawid-Skene`;
}

function percent(share: number | null): string {
  return share === null ? "–" : `${Math.round(share * 100)} %`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
