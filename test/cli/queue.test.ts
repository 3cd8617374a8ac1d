import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { build, newProject, type Project } from "./pawl-command.ts";

const config = `
import { defineConfig, queue } from "pawl";
import { z } from "zod";

const pictures = queue("pictures", { label: z.object({ animal: z.enum(["cat", "dog"]) }), overlap: 2 });
export default defineConfig({ lifecycles: [], queues: [pictures] });
`;

let project: Project;

beforeAll(async () => {
  build();
  project = newProject({
    "pawl.config.mjs": config,
    "more.jsonl": '{"id":"two","url":"2.png"}\n{"id":"two","url":"2.png"}\nno json\n{"id":"three","url":"3.png"}\n',
  });
  await project.start();
}, 120_000);
afterAll(() => project.remove());

describe("labeling from a terminal, with the process that has the queue", () => {
  test("samples are added one by one and from files; a bad line is told and left out", async () => {
    const [one, file] = await Promise.all([
      project.json("queue", "add", "pictures", '{"url":"1.png"}', "--key", "one"),
      project.pawl("queue", "import", "pictures", "more.jsonl", "--key", "id", "--json"),
    ]);
    expect(one).toMatchObject({ key: "one", created: true });
    expect(file).toMatchObject({ code: 5, stderr: expect.stringMatching(/^Line 3: /) });
    expect(JSON.parse(file.stdout)).toEqual({ added: 2, known: 1, bad: 1 });
    const { stdout } = await project.pawl("queue", "show", "pictures");
    expect(stdout).toContain("pictures\tactive\t2\toldest\tanyone");
    expect(stdout).toContain("one\topen\t0 of 2");
  }, 60_000);

  test("a bad gold label is reported with its line, and Label Studio's export knows texts from choices", async () => {
    const schema = { type: "object", properties: { kind: { enum: ["a", "b"] }, note: { type: "string" } } };
    await project.json("queue", "create", "notes", "--label", JSON.stringify(schema), "--settings", '{"overlap":2}');
    const line = (id: string, kind: string) => `${JSON.stringify({ id, gold: { kind } })}\n`;
    project.write({ "gold.jsonl": line("g1", "a") + line("g2", "z") + line("g3", "b") });
    const file = await project.pawl(
      "queue",
      "import",
      "notes",
      "gold.jsonl",
      "--key",
      "id",
      "--gold",
      "gold",
      "--json",
    );
    expect(file).toMatchObject({ code: 5, stderr: expect.stringMatching(/^Line 2: .*\/kind/) });
    expect(JSON.parse(file.stdout)).toEqual({ added: 2, known: 0, bad: 1 });
    for (const labeler of ["ada", "ben"]) {
      for (let n = 0; n < 2; n++) {
        const { assignment } = await project.json<{ assignment: { id: string } }>(
          ...["queue", "next", "notes", "--labeler", labeler, "--start"],
        );
        const label = JSON.stringify({ kind: "a", note: `by ${labeler}` });
        await project.json("queue", "answer", assignment.id, label, "--labeler", labeler);
      }
    }
    const { stdout } = await project.pawl("queue", "export", "notes", "--format", "label-studio");
    const tasks = JSON.parse(stdout) as { annotations: { result: { type: string }[] }[] }[];
    expect(tasks.map((task) => task.annotations.map(({ result }) => result.map(({ type }) => type)))).toEqual([
      [
        ["choices", "textarea"],
        ["choices", "textarea"],
      ],
      [
        ["choices", "textarea"],
        ["choices", "textarea"],
      ],
    ]);
  }, 60_000);

  test("an import that was killed in the middle is run again, and adds only what is missing", async () => {
    const line = (n: number) => `${JSON.stringify({ url: `${n}.png`, about: "x".repeat(500) })}\n`;
    project.write({ "large.jsonl": Array.from({ length: 3_000 }, (_, n) => line(n)).join("") });
    await project.json("queue", "create", "large", "--label", "{}");
    const first = project.begin(["queue", "import", "large", "large.jsonl"]);
    await vi.waitFor(async () => {
      const { samples } = await project.json<{ samples: unknown[] }>("queue", "show", "large", "--limit", "1");
      expect(samples).toHaveLength(1);
    }, 60_000);
    await first.end("SIGKILL");
    const again = await project.json<{ added: number; known: number }>("queue", "import", "large", "large.jsonl");
    expect(again).toEqual({ added: expect.any(Number), known: expect.any(Number), bad: 0 });
    expect([again.added + again.known, again.known > 0]).toEqual([3_000, true]);
  }, 120_000);

  test("a CSV has columns of other kinds than text; what cannot be imported is told before anything is read", async () => {
    project.write({ "some.csv": "id;count;url\na;3;a.png\nb;many;b.png\n" });
    const words = ["queue", "import", "pictures", "some.csv", "--key", "id", "--delimiter", ";", "--json"];
    const [done, unknown, none, wrong] = await Promise.all([
      project.pawl(...words, "--column", "count:number"),
      project.pawl("queue", "import", "nobody", "some.csv"),
      project.pawl("queue", "import", "pictures", "none.csv"),
      project.pawl(...words, "--column", "count"),
    ]);
    expect(done).toMatchObject({ code: 5, stderr: expect.stringContaining('Line 3: Column "count" contains "many".') });
    expect(JSON.parse(done.stdout)).toEqual({ added: 1, known: 0, bad: 1 });
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining("Queue `nobody` does not exist") });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("none.csv cannot be read") });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Write name:kind") });
  }, 60_000);

  test("the work goes from next to answer, and exit codes say what stood in the way", async () => {
    const given = await project.json<{ assignment: { id: string } }>(
      ...["queue", "next", "pictures", "--labeler", "ada", "--start"],
    );
    expect(given).toMatchObject({
      assignment: { status: "in_progress" },
      sample: { data: { url: expect.any(String) } },
    });
    const { id } = given.assignment;
    const [wrong, other] = await Promise.all([
      project.pawl("queue", "answer", id, '{"animal":"cow"}', "--labeler", "ada"),
      project.pawl("queue", "answer", id, '{"animal":"cat"}', "--labeler", "ben"),
    ]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("/animal") });
    expect(other).toMatchObject({ code: 7, stderr: expect.stringContaining("is not assigned to `ben`") });
    expect(await project.json("queue", "answer", id, '{"animal":"cat"}', "--labeler", "ada")).toMatchObject({
      late: false,
      assignment: { status: "completed" },
    });
    const [again, paused, metrics] = await Promise.all([
      project.pawl("queue", "start", id, "--labeler", "ada"),
      project.json("queue", "pause", "pictures"),
      project.json("queue", "metrics", "pictures", "--by", "labeler"),
    ]);
    expect(again).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("is completed and cannot become in progress"),
    });
    expect(paused).toMatchObject([{ active: false }]);
    expect(metrics).toMatchObject([{ labeler: "ada", byStatus: { completed: 1 } }]);
    const nothing = await project.pawl("queue", "next", "pictures", "--labeler", "ada");
    expect(nothing).toMatchObject({ code: 3, stderr: expect.stringContaining("is inactive") });
  }, 60_000);
});
