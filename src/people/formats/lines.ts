/** Where an import stands: behind this line and byte of the input. As JSON it can be kept and given back. */
export interface ImportCursor {
  readonly line: number;
  readonly byte: number;
}

/** Bytes of a file, a request or a socket; whole texts do as well. */
export type ByteStream = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** One line of the input, not yet read as text. */
export interface Line {
  readonly number: number;
  /** Without its end; undefined when it is longer than anything we take, so that it is not even kept. */
  readonly bytes: Buffer | undefined;
  /** The byte behind its end. */
  readonly end: number;
}

export const maxLineBytes = 2 * 1024 * 1024;
const lineFeed = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** The lines of an input, one at a time, whatever pieces it comes in. */
export async function* linesOf(input: ByteStream): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let [length, number, end] = [0, 0, 0];
  const take = (piece: Buffer) => {
    length += piece.length;
    if (length <= maxLineBytes) pieces.push(piece);
    else pieces = [];
  };
  const line = (ending: number): Line => {
    end += length + ending;
    const bytes = length > maxLineBytes ? undefined : pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    const isMarked = end - length - ending === 0 && bytes?.subarray(0, 3).equals(byteOrderMark) === true;
    [pieces, length] = [[], 0];
    return { number: ++number, bytes: isMarked ? bytes!.subarray(3) : bytes, end };
  };
  for await (const chunk of input) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : asBuffer(chunk);
    let start = 0;
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, start)) {
      take(bytes.subarray(start, at));
      yield line(1);
      start = at + 1;
    }
    if (start < bytes.length) take(bytes.subarray(start));
  }
  if (length > 0) yield line(0);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a line, or what is wrong with it and what to do. */
export function textOf(line: Line): { readonly text: string } | { readonly problem: string; readonly remedy: string } {
  if (line.bytes === undefined) {
    const remedy = "Store what is large elsewhere and import a link to it.";
    return { problem: `It is longer than ${maxLineBytes} bytes.`, remedy };
  }
  try {
    return { text: decoder.decode(line.bytes) };
  } catch {
    return {
      problem: "It is not UTF-8.",
      remedy: "Save the file as UTF-8; spreadsheets offer it when they save as CSV.",
    };
  }
}
