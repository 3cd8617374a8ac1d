/** A receipt as it is photographed. Only the simulation knows its content. */
export interface Paper {
  readonly key: string;
  readonly shop: string;
  readonly total: number;
  readonly tax: number;
  /** It is unreadable, so all workers guess. */
  readonly isSmudged?: boolean;
  /** No worker wants to begin on it. */
  readonly isUnloved?: boolean;
}

export const papers: readonly Paper[] = [
  paper("r-01", "Bakery Holm", 12.84, 0.07),
  paper("r-02", "Hardware Wolters", 59.5, 0.19),
  paper("r-03", "Station kiosk", 5.35, 0.07),
  paper("r-04", "Garden centre", 142.8, 0.19),
  paper("r-05", "Book shop Lind", 32.1, 0.07),
  paper("r-06", "Office supplies", 88.06, 0.19),
  { ...paper("r-07", "A rained-on one", 71.4, 0.19), isSmudged: true },
  paper("r-08", "Farmer's market", 21.4, 0.07),
  { key: "r-09", shop: "Paid by voucher", total: 0, tax: 0 },
  paper("r-10", "Bicycle repair", 47.6, 0.19),
  { ...paper("r-11", "Four metres long", 304.95, 0.07), isUnloved: true },
  paper("r-12", "Café Norden", 16.05, 0.07),
];

function paper(key: string, shop: string, total: number, rate: number): Paper {
  return { key, shop, total, tax: round((total * rate) / (1 + rate)) };
}

export function round(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** The printed text, as far as it is readable. */
export function printedOn({ shop, total, tax, isSmudged }: Paper): string {
  const text = `${shop.toUpperCase()} · SUM ${total.toFixed(2)} · TAX IN IT ${tax.toFixed(2)}`;
  return isSmudged === true ? text.replace(/\d/g, "▒") : text;
}
