export {
  type CallbackMessage,
  type CallbackQueueOptions,
  type CallbackTaker,
  consumeCallbacks,
  type ReadCallback,
} from "./callbacks.ts";
export { type ConsumeOptions, Consumer, consume, type IncomingMessage, type Verdict } from "./consumer.ts";
export { type DeadLetterQueueOptions, deadLetterQueue } from "./dead-letter-queue.ts";
export { consumeDeadLetters, type DeadLetterOptions, type DeadMessage } from "./dead-letters.ts";
export { RabbitmqBroker, type RabbitmqOptions, rabbitmq } from "./publisher.ts";
export type { ExchangeDeclaration, QueueDeclaration, Topology } from "./topology.ts";
