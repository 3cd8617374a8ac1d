import { z } from "zod";
import { chance } from "../../chance.ts";
import type { Listener } from "./listen.ts";
import { startService } from "./service.ts";
import type { Trouble } from "./trouble.ts";

const Recording = z.object({ attempt: z.string(), candidate: z.string() });

/** Analyzes the recording of an attempt, and counts anomalies. */
export function startProctoring(trouble: Trouble): Promise<Listener> {
  return startService(
    {
      name: "proctoring",
      subject: ({ body }) => Recording.parse(body).candidate,
      answer: ({ body }) => ({ oddities: Math.floor(chance("odd", Recording.parse(body).candidate) ** 2 * 10) }),
    },
    trouble,
  );
}
