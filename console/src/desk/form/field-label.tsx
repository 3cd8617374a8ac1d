import { wordsOf } from "../../parts/sample/words.ts";
import type { FormAround } from "./field-errors.tsx";
import type { Field } from "./fields.ts";
import type { Path } from "./form-values.ts";

export interface FieldProps<Shown extends Field = Field> {
  readonly field: Shown;
  readonly path: Path;
  /** Its name in the object around it; null for the whole, and for items of a list. */
  readonly name: string | null;
  readonly required: boolean;
  readonly around: FormAround;
}

/** The name of a field, and whether it is optional. */
export function FieldLabel({ field, name, required }: Pick<FieldProps, "field" | "name" | "required">) {
  return (
    <>
      <span class="field-name">{titleOf(field, name)}</span>
      {!required && <span class="quiet"> optional</span>}
    </>
  );
}

export function titleOf(field: Field, name: string | null): string {
  return field.title ?? (name === null ? "Your answer" : wordsOf(name));
}
