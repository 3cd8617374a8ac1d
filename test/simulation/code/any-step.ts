/** The part of a step or an effect that simulated handlers use. */
export interface AnyStep {
  readonly id: string;
  readonly key: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly payload: unknown;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  keyFor(name: string): string;
  set(patch: object): void;
  publish(topic: string, payload: unknown): void;
  once(name: string, ...rest: unknown[]): Promise<unknown>;
  progress(fraction: number, note?: string): void;
  start(lifecycle: unknown, options: object): void;
  send(lifecycle: unknown, to: unknown, event: string, payload?: unknown): void;
  call(dependency: string, work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown>;
  callbackToken(event: string): Promise<string>;
  go(event: string, payload?: unknown): unknown;
  retryLater(options?: object): unknown;
  giveUp(reason: string): unknown;
}
