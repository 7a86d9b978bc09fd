/** The tools by which an agent changes its own process, in the booted system: found by the model, permitted, traced, left. */
import { expect, it } from "vitest";
import { serve, server, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

const call = (tool: string, params: object) => toolUse({ name: "tool_call", input: { tool, params } });

/** In the order of the requests: a coroutine answers in between. */
const serveAll = (replies: ReturnType<typeof text>[]) => serve(() => replies.shift() ?? text("finished"));

const said = (request: number): string => JSON.stringify((server.requests[request] as ModelRequest).messages);

it("signals: a TERM comes as a message, and the process goes on to its end", async () => {
  await serveAll([
    call("signals", { op: "message", signal: "SIGTERM", duration_ms: 60_000 }),
    call("sleep", { duration_ms: 60_000 }),
  ]);
  const run = world.crux(["--permission-mode", "bypass", "work"]);
  await expect.poll(() => server.requests.length, { timeout: 30_000 }).toBe(2);
  const told = await world.crux(["kill", "1"]);
  expect(told.code).toBe(0);
  const { code, stdout } = await run;
  expect([code, stdout.includes("finished")]).toEqual([0, true]);
  expect(said(1)).toContain("SIGTERM comes as a message for 60 s.");
  expect(said(server.requests.length - 1)).toContain("SIGTERM was sent to you.");
});

it("context, coroutine and pipe: found by search, unasked, and nothing is left", async () => {
  await serveAll([
    call("context", { op: "alloc", size: 2 }),
    call("coroutine", { op: "spawn", intent: "judge what I say" }),
    call("coroutine", { op: "resume", id: 1, value: "the first" }),
    // the coroutine answers in a conversation of its own
    text("weak"),
    call("pipe", { op: "open" }),
    call("pipe", { op: "write", fd: 7, data: "through" }),
    call("pipe", { op: "read", fd: 8 }),
  ]);
  const { code, stdout } = await world.crux(["work"]);
  expect([code, stdout.includes("finished")]).toEqual([0, true]);
  expect(said(3)).toContain("judge what I say\\n\\nthe first");
  expect(said(3)).not.toContain("holds 2 notes");
  expect(said(4)).toContain("weak");
  expect(said(4)).not.toContain("judge what I say\\n\\nthe first");
  expect(said(server.requests.length - 1)).toContain("through");
});

it("supervise: agents below it work on their own, are watched, and go when they are done", async () => {
  const start = { name: "mine", children: [{ id: "one", intent: "dig for gold" }] };
  const replies = [call("supervise", start), call("sleep", { duration_ms: 60_000 })];
  const dug = Promise.withResolvers<void>();
  let asked = 0;
  await serve(async (request) => {
    if (!JSON.stringify(request.messages[0]).includes("dig for gold"))
      return replies.shift() ?? text("finished");
    asked++;
    await dug.promise;
    return text("gold");
  });
  const run = world.crux(["--permission-mode", "bypass", "work"]);
  await expect.poll(() => [asked, replies.length], { timeout: 30_000 }).toEqual([1, 0]);
  expect((await world.crux(["tree"])).stdout).toMatch(/mine.*dig for gold/s);
  dug.resolve();
  await expect
    .poll(async () => (await world.crux(["ps"])).stdout.includes("mine"), { timeout: 30_000 })
    .toBe(false);
  expect((await world.crux(["kill", "1"])).code).toBe(0);
  await run;
  expect(JSON.stringify(server.requests)).toContain("Process 2 supervises one.");
});
