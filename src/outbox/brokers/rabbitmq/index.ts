export {
  type CallbackMessage,
  type CallbackQueueOptions,
  type CallbackReceiver,
  consumeCallbacks,
  type ReadCallback,
} from "./callbacks.ts";
export { type ConsumeOptions, Consumer, consume, type IncomingMessage, type Verdict } from "./consumer.ts";
export { type DeadLetterQueueOptions, deadLetterQueue } from "./dead-letter-queue.ts";
export { type ConsumeDeadLettersOptions, consumeDeadLetters, type DeadMessage } from "./dead-letters.ts";
export { RabbitmqBroker, type RabbitmqOptions, rabbitmq } from "./publisher.ts";
export type { ExchangeDeclaration, QueueDeclaration, Topology } from "./topology.ts";
