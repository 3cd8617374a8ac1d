import { useEffect, useState } from "preact/hooks";
import { type ApiDocument, kindOf, type Operation } from "./document.ts";
import { Fields, Shape } from "./fields.tsx";
import { InlineText, Path } from "./inline-text.tsx";
import { TryIt } from "./try-it.tsx";

interface OperationProps {
  readonly api: ApiDocument;
  readonly operation: Operation;
  /** The address names it. */
  readonly isMeant: boolean;
}

/** One operation: a line, and all about it when it is opened. */
export function OperationCard({ api, operation, isMeant }: OperationProps) {
  const [isOpen, setOpen] = useState(isMeant);
  useEffect(() => {
    if (isMeant) setOpen(true);
  }, [isMeant]);
  const { id, method, path, summary } = operation;
  return (
    <details class="operation" id={id} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class={`method ${method.toLowerCase()}`}>{method}</span>
        <code class="operation-path">
          <Path path={path} />
        </code>
        <span class="operation-summary">
          <InlineText text={summary} />
        </span>
      </summary>
      {isOpen && <Inside api={api} operation={operation} />}
    </details>
  );
}

function Inside({ api, operation }: Omit<OperationProps, "isMeant">) {
  const { id, rights, parameters, body, answers } = operation;
  const taken = parameters.map(({ name, schema, required, description }) => ({
    name,
    schema,
    isNeeded: required,
    description,
  }));
  const inBody = Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
    name,
    schema,
    isNeeded: body?.required?.includes(name) ?? false,
  }));
  return (
    <div class="operation-inside">
      <div class="operation-facts">
        <p class="quiet">
          <a href={`docs#${id}`}>{id}</a>{" "}
          {rights.length === 0 ? (
            "no authentication needed."
          ) : (
            <>
              needs the right to <b>{rights.join(" or ")}</b>.
            </>
          )}
        </p>
        {taken.length > 0 && <h3>Path, query and headers</h3>}
        {taken.length > 0 && <Fields api={api} fields={taken} />}
        {inBody.length > 0 && <h3>Body</h3>}
        {inBody.length > 0 && <Fields api={api} fields={inBody} />}
        <h3>
          Answers <span class="quiet">{kindOf(answers)}</span>
        </h3>
        <Shape api={api} schema={answers} />
      </div>
      <TryIt api={api} operation={operation} />
    </div>
  );
}
