/** The most that a message may hold, in either direction. */
export const maxBodyBytes = 1024 * 1024;

/** All headers must fit into one frame; the driver's own bound is 64 KiB. */
const maxHeadersBytes = 32 * 1024;
const maxValueLength = 8 * 1024;

/**
 * Limits headers: a long text is cut, and a value that cannot fit is left out. One header over the frame size would
 * close the connection, with all messages in progress.
 */
export function boundedHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const bounded: Record<string, unknown> = {};
  let left = maxHeadersBytes;
  for (const [name, value] of Object.entries(headers)) {
    if (name.length > 128 || value === undefined) continue;
    const fitting = boundedValue(value);
    const size =
      name.length + Buffer.byteLength(typeof fitting === "string" ? fitting : (JSON.stringify(fitting) ?? ""));
    if (size > left) continue;
    left -= size;
    bounded[name] = fitting;
  }
  return bounded;
}

function boundedValue(value: unknown): unknown {
  if (typeof value === "string") return boundedText(value);
  if (value === null || typeof value === "number" || typeof value === "boolean") return value;
  return boundedText(JSON.stringify(value) ?? "");
}

function boundedText(text: string): string {
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength).toWellFormed()}…` : text.toWellFormed();
}
