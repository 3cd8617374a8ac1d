import { useState } from "preact/hooks";
import { type ApiDocument, type ApiSchema, kindOf, nameOf, shapeIn } from "./document.ts";
import { InlineText } from "./inline-text.tsx";

interface Field {
  readonly name: string;
  readonly schema: ApiSchema;
  readonly isNeeded: boolean;
  readonly description?: string | undefined;
}

/** The fields of an object, or the parameters of an operation. */
export function Fields({ api, fields }: { readonly api: ApiDocument; readonly fields: readonly Field[] }) {
  return (
    <ul class="doc-fields">
      {fields.map((field) => (
        <FieldLine key={field.name} api={api} field={field} />
      ))}
    </ul>
  );
}

function FieldLine({ api, field }: { readonly api: ApiDocument; readonly field: Field }) {
  const { name, schema, isNeeded } = field;
  const description = field.description ?? schema.description;
  const words = (schema.items?.enum ?? schema.enum)?.filter((one) => one !== null);
  return (
    <li>
      <div class="field-head">
        <code class="field-name">{name}</code>
        <span class="quiet">{kindOf(schema)}</span>
        {isNeeded && <span class="field-needed">needed</span>}
      </div>
      {description !== undefined && (
        <p>
          <InlineText text={description} />
        </p>
      )}
      {words !== undefined && (
        <p class="field-words">
          {words.map((word) => (
            <code key={word}>{word}</code>
          ))}
        </p>
      )}
      <Parts api={api} schema={schema} />
    </li>
  );
}

/** The fields of a nested schema, rendered when it is opened: some are recursive. */
function Parts({ api, schema }: { readonly api: ApiDocument; readonly schema: ApiSchema }) {
  const [isOpen, setOpen] = useState(false);
  const shape = shapeIn(api, schema);
  if (shape === undefined || isOnlyNullable(shape)) return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="field-more">Fields</summary>
      {isOpen && <Shape api={api} schema={shape} />}
    </details>
  );
}

/** A nullable text, for example, has no fields. */
function isOnlyNullable({ anyOf, properties }: ApiSchema): boolean {
  return (
    properties === undefined && (anyOf ?? []).every((one) => one.$ref === undefined && one.properties === undefined)
  );
}

/** A schema as its fields; for a union, each of its parts. */
export function Shape({ api, schema }: { readonly api: ApiDocument; readonly schema: ApiSchema }) {
  const shape = shapeIn(api, schema);
  if (shape === undefined) return null;
  const { properties, required = [], anyOf } = shape;
  if (anyOf !== undefined) {
    const several = anyOf.filter((one) => shapeIn(api, one) !== undefined);
    return (
      <>
        {several.map((one, index) => (
          <div key={kindOf(one) + index} class="either">
            {several.length > 1 && (
              <p class="quiet">
                {index === 0 ? "Either" : "Or"} {nameOf(one)}
              </p>
            )}
            <Shape api={api} schema={one} />
          </div>
        ))}
      </>
    );
  }
  const fields = Object.entries(properties ?? {}).map(([name, one]) => ({
    name,
    schema: one,
    isNeeded: false,
    ...(required.includes(name) ? {} : { description: `Optional. ${one.description ?? ""}`.trim() }),
  }));
  return <Fields api={api} fields={fields} />;
}
