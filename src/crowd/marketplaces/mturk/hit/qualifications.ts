import { PawlError } from "../../../../base/errors.ts";

/**
 * A required qualification of workers, as in the API of Mechanical Turk: an approval rate, a country, a test of your
 * own.
 */
export interface MturkQualification {
  readonly QualificationTypeId: string;
  readonly Comparator:
    | "LessThan"
    | "LessThanOrEqualTo"
    | "GreaterThan"
    | "GreaterThanOrEqualTo"
    | "EqualTo"
    | "NotEqualTo"
    | "Exists"
    | "DoesNotExist"
    | "In"
    | "NotIn";
  readonly IntegerValues?: number[];
  readonly LocaleValues?: { Country: string; Subdivision?: string }[];
  readonly ActionsGuarded?: "Accept" | "PreviewAndAccept" | "DiscoverPreviewAndAccept";
}

/** A HIT takes ten, and one of them keeps out workers who have done the job elsewhere. */
const most = 9;

export function checkedQualifications(given: unknown): readonly MturkQualification[] {
  const isOne = (one: unknown) => typeof (one as MturkQualification | null)?.QualificationTypeId === "string";
  if (Array.isArray(given) && given.length <= most && given.every(isOne)) return given as MturkQualification[];
  const text = `\`qualifications\` must be a list of ${most} at most, each with its QualificationTypeId and Comparator.`;
  throw new PawlError("option_invalid", text);
}
