import { PermanentError } from "../../../base/step-errors.ts";

const longest = 255;

/** What is written on every HIT that Pawl publishes, for its requester only: whose it is, and by which posting. */
export function annotationOf({ owner, token }: { readonly owner: string; readonly token: string }): string {
  const annotation = `pawl:${encodeURIComponent(owner)}:${token}`;
  if (annotation.length <= longest) return annotation;
  throw new PermanentError(`The owner and the token of a posting may have ${longest} characters on Mechanical Turk.`);
}

/** The instance of Pawl that an annotation tells of; undefined when Pawl did not write it. */
export function ownerIn(annotation: string | undefined): string | undefined {
  const owner = /^pawl:([^:]*):./s.exec(annotation ?? "")?.[1];
  try {
    return owner === undefined ? undefined : decodeURIComponent(owner);
  } catch {
    return undefined;
  }
}
