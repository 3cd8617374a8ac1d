import type { StandardSchemaV1 } from "@standard-schema/spec";
import { PawlError } from "../../base/errors.ts";
import { isThenable } from "../../base/guard.ts";
import type { AnyCrowd } from "../../definition/crowd.ts";
import { type AnyQueue, type LabelSchema, queue } from "../../definition/queue.ts";
import { isSchema } from "../../definition/read/read.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";

/** The maximum of a queue: a crowd sets the number of places itself. */
const maxSlots = 100;
const maxTries = 1_000;

/** The queue that assigns the jobs of a crowd to Pawl's own labelers. */
export function queueNameOf(crowd: AnyCrowd): string {
  return `crowd-${crowd.name}`;
}

/** The queues of crowds on the marketplace `people`, in addition to those `declared`. */
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
      overlap: Math.min(crowd.submissions, maxSlots),
      finishWithin: crowd.workTime,
      maxAttemptsTotal: maxTries,
      skipUnstarted: true,
      review: true,
    });
  });
}

/** Validates by a schema but keeps the input as it was entered: the crowd validates it by the same schema again. */
function asFilledIn(label: LabelSchema): LabelSchema {
  if (!isSchema(label)) return label;
  const standard = label["~standard"];
  const keep = (value: unknown, result: StandardSchemaV1.Result<unknown>) =>
    result.issues === undefined ? { value } : result;
  const validate = (value: unknown) => {
    const result = standard.validate(value);
    return isThenable(result) ? Promise.resolve(result).then((one) => keep(value, one)) : keep(value, result);
  };
  return { "~standard": { ...standard, validate } } as StandardSchemaV1;
}
