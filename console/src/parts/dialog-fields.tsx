export interface ReasonFieldProps {
  /** It cannot be left empty. */
  readonly needed?: boolean;
  /** Its label, such as `Comment`. */
  readonly label?: string;
}

/** The field of a dialog for why something is done, called `reason`. */
export function ReasonField({ needed = false, label = "Reason" }: ReasonFieldProps) {
  return (
    <label>
      <span>
        {label}
        {!needed && <span class="quiet"> (optional)</span>}
      </span>
      <input name="reason" required={needed} autocomplete="off" maxLength={500} />
    </label>
  );
}

export interface JsonFieldProps {
  readonly name: string;
  readonly label: string;
  readonly rows: number;
  readonly value?: unknown;
}

/** A field of a dialog for JSON, read with `jsonIn`. */
export function JsonField({ name, label, rows, value }: JsonFieldProps) {
  return (
    <label>
      {label}, as JSON
      <textarea name={name} rows={rows} defaultValue={JSON.stringify(value, undefined, 2)} spellcheck={false} />
    </label>
  );
}
