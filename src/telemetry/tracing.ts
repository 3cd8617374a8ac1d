import { type Attributes, context, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";

export type { Span };

/** Spans through OpenTelemetry; none are made while no provider is set up. */
export class Tracing {
  #tracer: Tracer | undefined;

  constructor() {
    this.#find();
  }

  /** Whether spans are recorded: otherwise their attributes are not even built. */
  get isOn(): boolean {
    return this.#find() !== undefined;
  }

  /** Runs `work` in a span, which is the parent of spans that it makes; `ended` can add attributes of the result. */
  async span<T>(
    name: string,
    attributes: Attributes,
    work: () => Promise<T>,
    ended?: (result: T, span: Span) => void,
  ): Promise<T> {
    const tracer = this.#find();
    if (tracer === undefined) return work();
    const span = tracer.startSpan(name, { attributes });
    try {
      const result = await context.with(trace.setSpan(context.active(), span), work);
      ended?.(result, span);
      return result;
    } catch (error) {
      markFailed(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** A provider may be set up later. Until then its proxy has no delegate. */
  #find(): Tracer | undefined {
    if (this.#tracer !== undefined) return this.#tracer;
    const provider = trace.getTracerProvider() as { getDelegateTracer?: typeof trace.getTracer };
    this.#tracer =
      provider.getDelegateTracer === undefined ? trace.getTracer("pawl") : provider.getDelegateTracer("pawl");
    return this.#tracer;
  }
}

export function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.recordException(error instanceof Error ? error : String(error));
}
