/** An element of an XML document; its name has no prefix. */
export interface XmlElement {
  readonly name: string;
  readonly inside: readonly XmlElement[];
  readonly text: string;
}

interface OpenElement extends XmlElement {
  readonly inside: OpenElement[];
  text: string;
}

/** The tokens of XML, one after the other; a document type is none of them. */
const part =
  /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!\[CDATA\[(?<verbatim>[\s\S]*?)\]\]>|<(?<end>\/?)(?<name>[A-Za-z_][\w.:-]*)(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(?<empty>\/?)>|(?<text>[^<]+)/y;

/** Parses a document strictly, without attributes: undefined if it is not XML, or has a document type. */
export function readXml(xml: string): XmlElement | undefined {
  const outside: OpenElement = { name: "", inside: [], text: "" };
  const open = [outside];
  part.lastIndex = 0;
  for (let at = 0; at < xml.length; at = part.lastIndex) {
    const groups = part.exec(xml)?.groups;
    const within = open.at(-1);
    if (groups === undefined || within === undefined) return undefined;
    const { verbatim, text, name, end, empty } = groups;
    if (verbatim !== undefined) within.text += verbatim;
    else if (text !== undefined) {
      const plain = plainText(text);
      if (plain === undefined) return undefined;
      within.text += plain;
    } else if (name !== undefined) {
      const local = name.slice(name.indexOf(":") + 1);
      if (end !== "" && (open.pop()?.name !== local || empty !== "")) return undefined;
      if (end !== "") continue;
      const element: OpenElement = { name: local, inside: [], text: "" };
      within.inside.push(element);
      if (empty === "") open.push(element);
    }
  }
  const isWhole = open.length === 1 && outside.inside.length === 1 && outside.text.trim() === "";
  return isWhole ? outside.inside[0] : undefined;
}

const marks: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Undefined when it refers to what XML does not know, or to a character that there is not. */
function plainText(text: string): string | undefined {
  let isPlain = true;
  const plain = text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,10}));|&/gi, (_, hex, decimal, name) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const character = name === undefined ? characterOf(code) : marks[name];
    isPlain &&= character !== undefined;
    return character ?? "";
  });
  return isPlain ? plain : undefined;
}

function characterOf(code: number): string | undefined {
  const isOne = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isOne ? String.fromCodePoint(code) : undefined;
}
