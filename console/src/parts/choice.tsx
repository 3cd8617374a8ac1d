export interface ChoiceProps<Value extends string> {
  readonly name: string;
  readonly value: Value;
  readonly choices: readonly (readonly [value: Value, name: string])[];
  readonly onChoose: (value: Value) => void;
}

/** A filter with a few values. */
export function Choice<Value extends string>({ name, value, choices, onChoose }: ChoiceProps<Value>) {
  return (
    <label class="choose">
      <span>{name}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
        {choices.map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}
