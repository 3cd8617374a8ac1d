import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { idAt } from "../keys/key-handler.ts";
import { shownKey } from "../keys/keys.ts";
import type { Labeling } from "../labeling.ts";
import { FieldView } from "./field.tsx";
import type { FormAround } from "./field-errors.tsx";

export interface FormProps extends FormAround {
  readonly onSkip: () => void;
}

/** The form in which a label is filled in. */
export function Form({ labeling, press, onSkip }: FormProps) {
  const { form, faults, trouble, phase } = labeling;
  const box = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => press.focusFirst(), []);
  // Focuses the first field with an error.
  useEffect(() => {
    const input = box.current?.querySelector<HTMLElement>("[aria-invalid=true], .wrong input, .wrong textarea");
    if (faults.value.length > 0) input?.focus();
  }, [faults.value]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void labeling.submit();
  };
  const isBusy = phase.value === "sending" || phase.value === "loading";
  const { keys } = press;
  return (
    <form ref={box} class="label-form" onSubmit={submit} noValidate aria-busy={isBusy}>
      <ErrorMessage error={trouble.value} />
      <Unplaced labeling={labeling} />
      <FieldView field={form.value} path={[]} name={null} required around={{ labeling, press }} />
      <div class="form-actions">
        <button type="submit" class="primary" disabled={isBusy || phase.value === "lost"}>
          Submit <kbd>{shownKey(keys.value.submit)}</kbd>
        </button>
        <button type="button" disabled={isBusy || phase.value === "lost"} onClick={onSkip}>
          Skip <kbd>{shownKey(keys.value.skip)}</kbd>
        </button>
      </div>
    </form>
  );
}

/** Errors of the label as a whole, or of parts that the form does not show. */
function Unplaced({ labeling }: { readonly labeling: Labeling }) {
  const { faults } = labeling;
  if (faults.value.length === 0) return null;
  const unplaced = faults.value.filter(
    ({ path }) => document.getElementById(idAt(path, "fault")) === null && path !== "",
  );
  const whole = faults.value.filter(({ path }) => path === "");
  const lines = [
    ...whole.map(({ message }) => (/^(?:is|must|has|could)\b/.test(message) ? `The answer ${message}.` : message)),
    ...unplaced.map(({ path, message }) => `${path} ${message}`),
  ];
  return (
    <div role="alert" class="error">
      {lines.length === 0 ? (
        <p>Some answers below are missing or invalid.</p>
      ) : (
        lines.map((line) => <p key={line}>{line}</p>)
      )}
    </div>
  );
}
