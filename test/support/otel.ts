import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type BatchObservableCallback,
  type BatchObservableResult,
  type Context,
  context,
  type Meter,
  metrics,
  type Observable,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  type SpanStatus,
  type Tracer,
  trace,
} from "@opentelemetry/api";

/** A recorded span. */
export interface RecordedSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Attributes;
  readonly status: SpanStatus | undefined;
  readonly exceptions: readonly unknown[];
}

/** A minimal OpenTelemetry: records what an SDK would export. Set up for the complete process until it is ended. */
export class MemoryOtel {
  readonly spans: RecordedSpan[] = [];
  /** The values of a histogram, by name. */
  readonly recorded = new Map<string, { value: number; attributes: Attributes }[]>();
  /** The requested tracers and meters. */
  readonly asked: string[] = [];
  readonly #callbacks = new Set<BatchObservableCallback>();
  readonly #current = new AsyncLocalStorage<Context>();

  begin(): this {
    const current = this.#current;
    context.setGlobalContextManager({
      active: () => current.getStore() ?? ROOT_CONTEXT,
      with: (given, work, self, ...args) => current.run(given, () => work.apply(self as never, args)),
      bind: (_given, target) => target,
      enable() {
        return this;
      },
      disable() {
        return this;
      },
    });
    trace.setGlobalTracerProvider({
      getTracer: (name) => {
        this.asked.push(`tracer ${name}`);
        return this.#tracer();
      },
    });
    metrics.setGlobalMeterProvider({
      getMeter: (name) => {
        this.asked.push(`meter ${name}`);
        return this.#meter();
      },
    });
    return this;
  }

  [Symbol.dispose](): void {
    trace.disable();
    metrics.disable();
    context.disable();
  }

  /** The export of this moment: `name{label=value}` and the number. */
  async collect(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const result: BatchObservableResult = {
      observe(observable, value, attributes = {}) {
        const labels = Object.entries(attributes).map(([key, each]) => `${key}=${String(each)}`);
        found.set(`${(observable as unknown as { name: string }).name}{${labels.join(",")}}`, value);
      },
    };
    for (const callback of this.#callbacks) await callback(result);
    return found;
  }

  #tracer(): Tracer {
    const startSpan = (name: string, options: SpanOptions = {}, given: Context = context.active()): Span =>
      new MemorySpan(name, trace.getSpan(given) as MemorySpan | undefined, options, (span) => this.spans.push(span));
    return { startSpan, startActiveSpan: undefined as never };
  }

  #meter(): Meter {
    const histogram = (name: string) => ({
      record: (value: number, attributes: Attributes = {}) => {
        this.recorded.set(name, [...(this.recorded.get(name) ?? []), { value, attributes }]);
      },
    });
    const observable = (name: string) => ({ name }) as unknown as Observable;
    return {
      createHistogram: histogram,
      createObservableCounter: observable,
      createObservableGauge: observable,
      addBatchObservableCallback: (callback: BatchObservableCallback) => void this.#callbacks.add(callback),
      removeBatchObservableCallback: (callback: BatchObservableCallback) => void this.#callbacks.delete(callback),
    } as unknown as Meter;
  }
}

class MemorySpan implements Span {
  readonly name: string;
  readonly #parent: string | undefined;
  readonly #attributes: Attributes;
  readonly #exceptions: unknown[] = [];
  readonly #ended: (span: RecordedSpan) => void;
  #status: SpanStatus | undefined;

  constructor(name: string, parent: MemorySpan | undefined, options: SpanOptions, ended: (span: RecordedSpan) => void) {
    this.name = name;
    this.#parent = parent?.name;
    this.#attributes = { ...options.attributes };
    this.#ended = ended;
  }

  spanContext() {
    return { traceId: "1".repeat(32), spanId: "1".repeat(16), traceFlags: 1 };
  }

  setAttribute(key: string, value: Attributes[string]): this {
    this.#attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }

  recordException(exception: unknown): void {
    this.#exceptions.push(exception);
  }

  end(): void {
    const [parent, attributes, status, exceptions] = [this.#parent, this.#attributes, this.#status, this.#exceptions];
    this.#ended({ name: this.name, parent, attributes, status, exceptions });
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  updateName(): this {
    return this;
  }

  isRecording(): boolean {
    return true;
  }
}
