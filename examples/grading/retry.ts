import { exponential, isNetworkError, type RetryPolicy } from "pawl";

/**
 * A retry policy for a step that calls a model or a speech recognizer: model timeouts, failed speech recognition and
 * network errors are retried three times, after 2, 4 and 8 seconds; invalid input is not. The state's own `fail` edges
 * decide what happens after the last attempt, by `payload.type`.
 */
export const gradingRetry: RetryPolicy = {
  maxAttempts: 4,
  backoff: exponential(),
  rules: [
    { type: "validation", when: ["ValidationError", "ZodError", "ValiError"], maxAttempts: 1 },
    { type: "llm_timeout", when: ["LlmTimeoutError", "LLMTimeoutError"], maxAttempts: 4 },
    { type: "stt_failed", when: ["SttError", "STTError"], maxAttempts: 4 },
    { type: "network", when: isNetworkError, maxAttempts: 4 },
  ],
};
