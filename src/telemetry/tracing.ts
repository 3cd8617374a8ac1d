import { type Attributes, context, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";

export type { Span };

/** Spans through OpenTelemetry, whoever has set it up; while nobody has, none is made. */
export class Tracing {
  #tracer: Tracer | undefined;

  constructor() {
    this.#find();
  }

  /** Whether anybody traces: what is not wanted need not even be put together. */
  get isOn(): boolean {
    return this.#find() !== undefined;
  }

  /** Runs `work` inside a span, so that spans which it makes belong to it; `ended` may say more of what came of it. */
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

  /** A provider may come late. The one that stands in for it until then knows that it has nobody to ask. */
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
