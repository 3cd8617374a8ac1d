import type { Log } from "../../src/telemetry/log.ts";

/** A log that keeps its lines. */
export class CapturedLog implements Log {
  readonly lines: { readonly level: keyof Log; readonly message: string; readonly fields: Record<string, unknown> }[] =
    [];
  readonly debug = this.#keep("debug");
  readonly info = this.#keep("info");
  readonly warn = this.#keep("warn");
  readonly error = this.#keep("error");

  /** The lines of a level, without their fields. */
  said(level: keyof Log): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message);
  }

  #keep(level: keyof Log) {
    return (fields: object, message: string) => {
      this.lines.push({ level, message, fields: fields as Record<string, unknown> });
    };
  }
}
