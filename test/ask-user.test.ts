/** Questions of agents to their person: whoever is attached may answer, the first one wins, and nobody answers where nobody is. */
import { beforeEach, expect, it } from "vitest";
import { onSharedStage, serveInTurn, server, world } from "./harness/stage.ts";
import { Wire, type Reply as WireReply } from "./harness/wire.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();

const QUESTION = {
  question: "Which database?",
  header: "Database",
  options: [
    { label: "SQLite", description: "one file" },
    { label: "Postgres", description: "a server" },
  ],
};

beforeEach(async () => {
  const ask = toolUse({ name: "ask_user", input: { questions: [QUESTION] } });
  await serveInTurn(ask, text("done"));
  await world.crux(["daemon", "start"]);
});

const person = () => Wire.open(world.socket);

async function until(wire: Wire, event: string): Promise<WireReply> {
  for (;;) {
    const line = await wire.next();
    if (line === undefined) throw new Error(`ended before ${event}`);
    if (line.payload?.event === event) return line;
  }
}

const result = () => JSON.stringify((server.requests.at(-1) as ModelRequest).messages);
const payload = () => ({ intent: "work", cwd: world.work, interactive: true, env: world.env });

it("a second client answers the question of a run; later answers and other options are refused", async () => {
  await using first = await person();
  await first.ask("spawn", payload());
  const { payload: asked } = await until(first, "ask");
  expect(asked).toMatchObject({ text: "Which database?", questions: [{ ...QUESTION, multi_select: false }] });
  await using second = await person();
  const answer = (answers: object[]) =>
    second.ask("ask.answer", { ask_id: asked?.ask_id, answer: "yes", answers });
  expect(await answer([{ chosen: ["Oracle"], text: "" }])).toMatchObject({ error: { code: "INVALID" } });
  expect(await answer([])).toMatchObject({ error: { code: "INVALID" } });
  expect(await answer([{ chosen: ["SQLite"], text: "with WAL" }])).toMatchObject({ ok: true });
  expect(await answer([{ chosen: ["Postgres"], text: "" }])).toMatchObject({ error: { code: "CONFLICT" } });
  expect((await until(first, "complete")).payload).toMatchObject({ exit_code: 0 });
  expect(result()).toContain("Which database?\\n→ SQLite, (in their own words) with WAL");
});

it("a dismissed question is CANCELLED", async () => {
  await using wire = await person();
  await wire.ask("spawn", payload());
  const { payload: asked } = await until(wire, "ask");
  await using second = await person();
  await second.ask("ask.answer", { ask_id: asked?.ask_id, answer: "no" });
  await until(wire, "complete");
  expect(result()).toContain("Error [CANCELLED]: the person dismissed the question");
});

it("who comes later to a session gets the question that is open", async () => {
  await using first = await person();
  await first.ask("spawn", { ...payload(), session: true });
  const { payload: asked, ...line } = await until(first, "ask");
  await using second = await person();
  await second.ask("process.attach", { pid: asked?.pid, interactive: true });
  expect((await until(second, "ask")).payload).toMatchObject({
    ask_id: asked?.ask_id,
    questions: [QUESTION],
  });
  expect(line).toBeDefined();
  await using third = await person();
  await third.ask("ask.answer", {
    ask_id: asked?.ask_id,
    answer: "yes",
    answers: [{ chosen: [], text: "neither" }],
  });
  await until(second, "idle");
  expect(result()).toContain("(in their own words) neither");
});

it("headless it is UNAVAILABLE at once", async () => {
  expect((await world.crux(["work"])).code).toBe(0);
  expect(result()).toContain("Error [UNAVAILABLE]: no person is attached who could answer");
});
