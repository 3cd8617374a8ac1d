import type { Answer } from "./harness.ts";
import type { System } from "./systems.ts";
import type { Measured } from "./workloads.ts";

const width = 760;
const nameWidth = 190;
const barHeight = 16;
const gap = 5;
const titleHeight = 34;
const colours = { pawl: "#1f6feb", others: "#8b949e" };

/** The middle of the answers of a system to a workload. */
export type MiddleOf = (workload: Measured, system: System) => Answer | undefined;

/** The results as bars, one group a workload, in its own unit. */
export function chart(systems: readonly System[], workloads: readonly Measured[], middleOf: MiddleOf): string {
  const parts: string[] = [];
  let y = 0;
  for (const workload of workloads) {
    const bars = systems.flatMap((system) => {
      const answer = middleOf(workload, system);
      const value = answer?.rate ?? answer?.p50;
      return value === undefined ? [] : [{ name: system.name, value, isLatency: answer!.rate === undefined }];
    });
    if (bars.length === 0) continue;
    const better = bars[0]!.isLatency ? "less is better" : "more is better";
    parts.push(text(0, y + 22, `${workload.title}, ${workload.unit} (${better})`, "title"));
    y += titleHeight;
    const most = Math.max(...bars.map(({ value }) => value));
    for (const { name, value, isLatency } of bars) {
      const length = Math.max(1, ((width - nameWidth - 90) * value) / most);
      const colour = name === "pawl" ? colours.pawl : colours.others;
      parts.push(text(nameWidth - 8, y + 12, name, "name"));
      parts.push(
        `<rect x="${nameWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" fill="${colour}"/>`,
      );
      parts.push(text(nameWidth + length + 6, y + 12, isLatency ? value.toFixed(1) : whole(value), "value"));
      y += barHeight + gap;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + gap}" font-family="system-ui, sans-serif" font-size="12">
<style>text { fill: #24292f } .title { font-weight: 600; font-size: 13px } .name { text-anchor: end }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }</style>
${parts.join("\n")}
</svg>
`;
}

function text(x: number, y: number, words: string, kind: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" class="${kind}">${escaped(words)}</text>`;
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function whole(number: number): string {
  return Math.round(number).toLocaleString("en");
}
