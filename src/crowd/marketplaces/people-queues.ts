import type { StandardSchemaV1 } from "@standard-schema/spec";
import { PawlError } from "../../base/errors.ts";
import type { AnyCrowd } from "../../definition/crowd.ts";
import { type AnyQueue, type LabelSchema, queue } from "../../definition/queue.ts";
import { isSchema } from "../../definition/read/read.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";

/** The most that a queue takes: a crowd itself says how many places a job may have. */
const mostSlots = 100;
const mostTries = 1_000;

/** The queue in which the jobs of a crowd are handed out to Pawl's own people. */
export function queueNameOf(crowd: AnyCrowd): string {
  return `crowd-${crowd.name}`;
}

/** The queues of crowds that are published among Pawl's own people, beside those that are `declared`. */
export function queuesOfCrowds(crowds: readonly AnyCrowd[], declared: readonly AnyQueue[]): AnyQueue[] {
  return crowds.map((crowd) => {
    const name = queueNameOf(crowd);
    if (declared.some((one) => one.name === name)) {
      throw new PawlError(
        "option_invalid",
        `The queue \`${name}\` is that of the crowd \`${crowd.name}\`, and one of that name is declared. Give either another name.`,
        { queue: name, crowd: crowd.name },
      );
    }
    return queue(name, {
      label: asFilledIn(crowd.label) as JsonSchema,
      overlap: Math.min(crowd.submissions, mostSlots),
      finishWithin: crowd.workTime,
      maxAttemptsTotal: mostTries,
      skipUnstarted: true,
      review: true,
    });
  });
}

/** Takes what a schema takes and keeps it as it was filled in: the crowd reads it by the same schema once more. */
function asFilledIn(label: LabelSchema): LabelSchema {
  if (!isSchema(label)) return label;
  const standard = label["~standard"];
  const keep = (value: unknown, result: StandardSchemaV1.Result<unknown>) =>
    result.issues === undefined ? { value } : result;
  const validate = (value: unknown) => {
    const result = standard.validate(value);
    return result instanceof Promise ? result.then((one) => keep(value, one)) : keep(value, result);
  };
  return { "~standard": { ...standard, validate } } as StandardSchemaV1;
}
