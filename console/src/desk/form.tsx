import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Trouble } from "../parts/trouble.tsx";
import { at, type Fault, hasSomething, type Path, pointerOf } from "./entered.ts";
import { FieldView } from "./field.tsx";
import type { Option } from "./fields.ts";
import { chosen } from "./groups.ts";
import { shownKey } from "./keys.ts";
import type { Labeling } from "./labeling.ts";
import { idAt, type Press } from "./press.ts";

/** What a field needs of the form around it. */
export interface FormAround {
  readonly labeling: Labeling;
  readonly press: Press;
}

export interface FormProps extends FormAround {
  readonly onSkip: () => void;
}

/** The form in which a label is filled in. */
export function Form({ labeling, press, onSkip }: FormProps) {
  const { form, faults, trouble, phase } = labeling;
  const box = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => press.focusFirst(), []);
  // The first place that is wrong is where one goes on.
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
      <Trouble error={trouble.value} />
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

/** What is wrong with the label as a whole, or at a place that the form does not show. */
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
      {lines.length === 0 ? <p>Something is missing or wrong below.</p> : lines.map((line) => <p key={line}>{line}</p>)}
    </div>
  );
}

/** What is wrong at one place; empty where nothing is, so that a reader knows where to listen. */
export function Faults({ labeling, path }: { readonly labeling: Labeling; readonly path: Path }) {
  const pointer = pointerOf(path);
  const own = pointer === "" ? [] : labeling.faults.value.filter((fault) => fault.path === pointer);
  return (
    <p id={idAt(pointer, "fault")} class="fault">
      {own.map((fault) => wordsFor(fault, hasSomething(valueAt(labeling, path)))).join(" ")}
    </p>
  );
}

export function isWrong({ faults }: Labeling, path: Path): boolean {
  const pointer = pointerOf(path);
  return pointer !== "" && faults.value.some((fault) => fault.path === pointer);
}

/** What schemas say of a place where nothing was entered; a library's own words for it are for programmers. */
const missing = ["required", "type", "enum", "minLength", "minItems", "invalid_type", "invalid_value", "too_small"];

function wordsFor({ message, code }: Fault, isFilled: boolean): string {
  if (!isFilled && missing.includes(code ?? "")) return "Please answer this.";
  const words = message[0]!.toUpperCase() + message.slice(1);
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** Chooses by a press or a click, as a digit does. */
export function choose(
  labeling: Labeling,
  path: Path,
  options: readonly Option[],
  option: Option,
  many: boolean,
): void {
  labeling.setAll(chosen({ path, options, many, optional: false }, option, labeling.entered.value));
}

export function valueAt({ entered }: Labeling, path: Path): unknown {
  return at(entered.value, path);
}
