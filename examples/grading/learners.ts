import { chance } from "../chance.ts";

/** A submission of a learner. */
export interface HandedIn {
  readonly key: string;
  readonly skill: "writing" | "speaking";
  readonly text: string;
  /** When, in minutes from the beginning. */
  readonly atMinute: number;
}

const names = ["an", "binh", "chi", "dung", "giang", "hoa", "khanh", "linh", "minh", "ngoc"];

/** Two writings for each speaking, submitted over a period. */
export function handedIn(count: number, run: number, overMinutes: number): HandedIn[] {
  return Array.from({ length: count }, (_, index) => {
    const skill = index % 3 === 2 ? "speaking" : "writing";
    const name = `${names[index % names.length]}-${String(index + 1).padStart(3, "0")}`;
    const thing = chance("thing", name) < 0.5 ? "my village" : "the city at night";
    return {
      key: `${run}-${name}`,
      skill,
      text: `${name} on ${thing}, ${skill === "writing" ? "in writing" : "as heard"}.`,
      atMinute: (index / count) * overMinutes,
    };
  });
}
