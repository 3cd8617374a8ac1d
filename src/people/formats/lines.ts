/** The position of an import: after this line and byte of the input. You can store it as JSON and pass it again. */
export interface ImportCursor {
  readonly line: number;
  readonly byte: number;
}

/** Bytes or strings of a file, a request or a socket. */
export type ByteStream = AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/** One line of the input, not yet decoded. */
export interface Line {
  readonly number: number;
  /** Without its line end; undefined if it is longer than the maximum, so that it is not even buffered. */
  readonly bytes: Uint8Array | undefined;
  /** The offset after its end. */
  readonly end: number;
}

export const maxLineBytes = 2 * 1024 * 1024;
const lineFeed = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads the lines of an input, however it is split into chunks. */
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

/** Decodes a line, or returns its fault with a remedy. */
export function textOf(line: Line): { readonly text: string } | { readonly problem: string; readonly remedy: string } {
  if (line.bytes === undefined) {
    const remedy = "Store large content elsewhere and import a link to it.";
    return { problem: `It is longer than ${maxLineBytes} bytes.`, remedy };
  }
  try {
    return { text: decoder.decode(line.bytes) };
  } catch {
    return {
      problem: "It is not UTF-8.",
      remedy: "Save the file as UTF-8; spreadsheets offer this when they export CSV.",
    };
  }
}
