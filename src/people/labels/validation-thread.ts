import { parentPort } from "node:worker_threads";
import { messageOf } from "../../base/errors.ts";
import { compileForm } from "./compile-form.ts";
import { schemaFaults } from "./label-faults.ts";
import type { FromThread, ToThread } from "./validation-messages.ts";

const port = parentPort!;
const send = (message: FromThread): void => port.postMessage(message);

port.on("message", ({ form, label }: ToThread) => {
  compileForm(form).then(
    (validator) => send({ faults: validator(label) ? [] : schemaFaults(validator.errors ?? []) }),
    (error: unknown) => send({ failure: messageOf(error) }),
  );
});
await import("ajv/dist/2020.js"); // Warm up, so that the first label does not spend its time limit on it.
send({ ready: true });
