/** A message as RabbitMQ takes it. */
export interface Parcel {
  /** By which the broker gives it back when no queue takes it. */
  readonly id: string;
  readonly exchange: string;
  readonly key: string;
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, unknown>>;
}
