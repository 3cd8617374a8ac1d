/** A message in the form that RabbitMQ expects. */
export interface Parcel {
  /** Identifies it if the broker returns it because no queue accepts it. */
  readonly id: string;
  readonly exchange: string;
  readonly key: string;
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, unknown>>;
}
