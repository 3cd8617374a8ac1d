import { PawlError } from "../../../../base/errors.ts";
import { PermanentError } from "../../../../base/step-errors.ts";

const longest = 255;

/**
 * The annotation of every HIT that Pawl publishes, visible to its requester only: its owner and its posting. The scope
 * separates several Pawls that publish with one account.
 */
export class Annotations {
  readonly #prefix: string;

  constructor(scope: string | undefined) {
    if (scope !== undefined && !/^[a-z0-9][a-z0-9_-]{0,39}$/.test(scope)) {
      throw new PawlError("option_invalid", '`scope` must be a short name of small letters and digits: "staging".');
    }
    this.#prefix = scope === undefined ? "pawl:" : `pawl/${scope}:`;
  }

  of({ owner, token }: { readonly owner: string; readonly token: string }): string {
    const annotation = `${this.#prefix}${encodeURIComponent(owner)}:${token}`;
    if (annotation.length <= longest) return annotation;
    throw new PermanentError(
      `The owner and the token of a posting can have at most ${longest} characters on Mechanical Turk.`,
    );
  }

  /** The instance of Pawl in an annotation; undefined if this Pawl did not write it. */
  ownerIn(annotation: string | undefined): string | undefined {
    if (annotation?.startsWith(this.#prefix) !== true) return undefined;
    const owner = /^([^:]*):./s.exec(annotation.slice(this.#prefix.length))?.[1];
    try {
      return owner === undefined ? undefined : decodeURIComponent(owner);
    } catch {
      return undefined;
    }
  }
}
