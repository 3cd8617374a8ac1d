import { z } from "zod";
import { chance } from "../../chance.ts";
import type { Listener } from "./listen.ts";
import { startService } from "./service.ts";
import type { Trouble } from "./trouble.ts";

const About = z.object({ attempt: z.string(), candidate: z.string() });

/** Indexes the answers of attempts, deletes them, and returns how similar they are to others'. */
export function startPlagiarismIndex(trouble: Trouble): Promise<Listener> {
  return startService(
    {
      name: "plagiarism index",
      subject: ({ path, body }) => `${path} ${About.parse(body).candidate}`,
      answer({ path, body }) {
        const { candidate } = About.parse(body);
        return path === "/compare" ? { similarity: chance("alike", candidate) ** 4 } : {};
      },
    },
    trouble,
  );
}
