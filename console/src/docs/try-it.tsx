import { useId, useState } from "preact/hooks";
import { copy } from "../copy.ts";
import { Icon } from "../parts/icon.tsx";
import { session } from "../session.ts";
import { type ApiDocument, kindOf, type Operation, type Parameter } from "./document.ts";
import { bodyToBeginWith, curlOf, missingIn, type ReadyRequest, requestOf } from "./request.ts";

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * A form for an operation: shows the request for a terminal, and sends it to this Pawl; a write only after a
 * confirmation.
 */
export function TryIt({ api, operation }: { readonly api: ApiDocument; readonly operation: Operation }) {
  const [parameters, setParameters] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState(() => bodyToBeginWith(api, operation.body));
  const [answer, setAnswer] = useState<Answer>();
  const request = requestOf(operation, { parameters, body }, document.baseURI);
  const curl = curlOf(request);
  return (
    <div class="try">
      <h3>Try it</h3>
      {operation.parameters.map((one) => (
        <ParameterField
          key={one.name}
          parameter={one}
          value={parameters[one.name] ?? ""}
          onValue={(value) => setParameters({ ...parameters, [one.name]: value })}
        />
      ))}
      {operation.body !== undefined && (
        <label class="try-field">
          <span>Body</span>
          <textarea
            rows={Math.min(12, body.split("\n").length + 1)}
            value={body}
            spellcheck={false}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="try-curl">
        <button type="button" class="bare" onClick={() => void copy(curl)}>
          <Icon name="copy" />
          Copy curl
        </button>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
        <pre tabIndex={0}>{curl}</pre>
      </div>
      <Sending
        operation={operation}
        request={request}
        obstacle={obstacleOf(operation, parameters, body)}
        onAnswer={setAnswer}
      />
      {answer !== undefined && <AnswerView answer={answer} />}
    </div>
  );
}

interface ParameterProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function ParameterField({ parameter: { name, required, schema }, value, onValue }: ParameterProps) {
  const words = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : undefined);
  const id = useId();
  return (
    <div class="try-field">
      <label for={id}>
        {name} {required && <span class="field-needed">needed</span>}
      </label>
      {words === undefined ? (
        <input
          id={id}
          value={value}
          placeholder={kindOf(schema)}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      ) : (
        <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          <option value="">not given</option>
          {words.map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      )}
    </div>
  );
}

/** Why it cannot be sent; undefined when it can. */
function obstacleOf(
  operation: Operation,
  parameters: Readonly<Record<string, string>>,
  body: string,
): string | undefined {
  if (operation.isStream) return "It is a stream, which this page cannot show. Use curl.";
  const notAllowed = whyNotAllowed(operation.rights);
  if (notAllowed !== undefined) return notAllowed;
  const missing = missingIn(operation, { parameters, body });
  if (missing.length > 0) return `Fill in ${missing.join(", ")}.`;
  if (operation.body === undefined || body.trim() === "" || isJson(body)) return undefined;
  return "The body is not JSON.";
}

function whyNotAllowed(rights: readonly string[]): string | undefined {
  if (rights.length === 0) return undefined;
  if (session.value == null) return "Sign in to send it from here.";
  const { role, may }: { role: string; may: readonly string[] } = session.value;
  return rights.some((right) => may.includes(right))
    ? undefined
    : `The role ${role} does not have the right to ${rights.join(" or ")}.`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface SendingProps {
  readonly operation: Operation;
  readonly request: ReadyRequest;
  readonly obstacle: string | undefined;
  readonly onAnswer: (answer: Answer) => void;
}

function Sending({ operation: { method }, request, obstacle, onAnswer }: SendingProps) {
  const [isAsking, setAsking] = useState(false);
  const [isUnderWay, setUnderWay] = useState(false);
  const isWrite = method !== "GET";
  const send = async () => {
    setAsking(false);
    setUnderWay(true);
    onAnswer(await answerTo(request));
    setUnderWay(false);
  };
  if (isAsking && obstacle === undefined) {
    return (
      <div class="try-send">
        <button type="button" class="danger" onClick={() => void send()}>
          Change data: {method}
        </button>
        <button type="button" onClick={() => setAsking(false)}>
          Cancel
        </button>
      </div>
    );
  }
  return (
    <div class="try-send">
      <button
        type="button"
        class="primary"
        disabled={obstacle !== undefined || isUnderWay}
        onClick={() => (isWrite ? setAsking(true) : void send())}
      >
        {isWrite ? `Send ${method}…` : "Send"}
      </button>
      {obstacle !== undefined && <span class="quiet">{obstacle}</span>}
    </div>
  );
}

async function answerTo({ method, url, headers, body }: ReadyRequest): Promise<Answer> {
  try {
    const response = await fetch(url, { method, headers, body });
    return { status: response.status, text: pretty(await response.text()) };
  } catch {
    return { status: 0, text: "Pawl does not respond." };
  }
}

function pretty(text: string): string {
  return isJson(text) ? JSON.stringify(JSON.parse(text), undefined, 2) : text;
}

function AnswerView({ answer: { status, text } }: { readonly answer: Answer }) {
  const tone = status >= 200 && status < 300 ? "good" : "bad";
  return (
    <div class="try-answer" role="status">
      <span class={`pill ${tone}`}>{status === 0 ? "no response" : status}</span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}
