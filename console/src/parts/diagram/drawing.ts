const ns = "http://www.w3.org/2000/svg";

/** A drawing as Graphviz makes it, ready to be coloured and counted in. */
export interface Drawing {
  readonly svg: SVGSVGElement;
  readonly nodes: ReadonlyMap<string, DrawnNode>;
}

/** Reads a drawing: its nodes by the names of their states, and its arrows by where they lead, as in `open done`. */
export function readDrawing(text: string): Drawing {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const svg = document.importNode(parsed, true) as unknown as SVGSVGElement;
  // The page has a ground of its own, and a size that Graphviz does not know.
  svg.querySelector("g.graph > polygon")?.remove();
  svg.querySelector("g.graph > title")?.remove();
  svg.removeAttribute("height");
  const { width } = svg.viewBox.baseVal;
  svg.setAttribute("width", String(Math.round(width * 1.25)));
  svg.style.setProperty("--readable", `${Math.round(width * 0.7)}px`);
  const nodes = new Map<string, DrawnNode>();
  for (const group of svg.querySelectorAll<SVGGElement>("g.node")) {
    const name = takeTitle(group);
    if (name !== "") nodes.set(name, new DrawnNode(group, name));
  }
  for (const group of svg.querySelectorAll<SVGGElement>("g.edge"))
    group.dataset.way = takeTitle(group).replace("->", " ");
  return { svg, nodes };
}

/** The room between a name and the edge of its box. */
const padding = 6;

/** Makes each name as narrow as its box: Graphviz measures with a font that the browser may not have. */
export function fitNames({ nodes }: Drawing): void {
  for (const { group } of nodes.values()) {
    const [text, shape] = [
      group.querySelector("text"),
      group.querySelector<SVGGraphicsElement>("polygon, path, ellipse"),
    ];
    const room = (shape?.getBBox().width ?? 0) - 2 * padding;
    if (text === null || room <= 0 || text.getComputedTextLength() <= room) continue;
    text.setAttribute("textLength", String(room));
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
}

/** A title would be shown as a tooltip that repeats the label. */
function takeTitle(group: SVGGElement): string {
  const title = group.querySelector("title");
  title?.remove();
  return title?.textContent ?? "";
}

/** One state in a drawing. */
export class DrawnNode {
  readonly group: SVGGElement;
  readonly #name: string;
  #shown = 0;
  #badge: { readonly box: SVGRectElement; readonly text: SVGTextElement } | undefined;
  #isButton = false;

  constructor(group: SVGGElement, name: string) {
    this.group = group;
    this.#name = name;
  }

  /** Makes it a button, also for the keyboard. */
  makeButton(press: () => void): void {
    this.#isButton = true;
    this.group.setAttribute("role", "button");
    this.group.setAttribute("tabindex", "0");
    this.#label();
    this.group.addEventListener("click", press);
    this.group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press();
    });
  }

  /** Writes the instance count at its corner; nothing for zero. */
  count(instances: number): void {
    if (instances === this.#shown) return;
    this.#shown = instances;
    this.#badge ??= this.#addBadge();
    const { box, text } = this.#badge;
    text.textContent = short(instances);
    const width = 10 + 5.6 * text.textContent.length;
    const node = this.#shape().getBBox();
    box.setAttribute("width", String(width));
    box.setAttribute("x", String(node.x + node.width - width / 2));
    text.setAttribute("x", String(node.x + node.width));
    this.group.classList.toggle("counted", instances > 0);
    this.#label();
    this.group.classList.remove("moved");
    requestAnimationFrame(() => this.group.classList.add("moved"));
  }

  #label(): void {
    if (!this.#isButton) return;
    const many = this.#shown === 1 ? "1 instance" : `${this.#shown} instances`;
    this.group.setAttribute("aria-label", `${this.#name}, ${many}`);
  }

  #shape(): SVGGraphicsElement {
    return this.group.querySelector<SVGGraphicsElement>("polygon, path, ellipse")!;
  }

  #addBadge(): { box: SVGRectElement; text: SVGTextElement } {
    const { y } = this.#shape().getBBox();
    const badge = document.createElementNS(ns, "g");
    badge.setAttribute("class", "badge");
    const box = document.createElementNS(ns, "rect");
    box.setAttribute("y", String(y - 7));
    box.setAttribute("height", "14");
    box.setAttribute("rx", "7");
    const text = document.createElementNS(ns, "text");
    text.setAttribute("y", String(y + 3.2));
    text.setAttribute("text-anchor", "middle");
    badge.append(box, text);
    this.group.append(badge);
    return { box, text };
  }
}

/** A short form: 940, 1.2k, 38k, 4.1M. */
export function short(value: number): string {
  const [unit, name] = value >= 1_000_000 ? [1_000_000, "M"] : value >= 1_000 ? [1_000, "k"] : [1, ""];
  const scaled = value / unit;
  return `${unit === 1 || scaled >= 10 ? Math.floor(scaled) : Math.floor(scaled * 10) / 10}${name}`;
}
