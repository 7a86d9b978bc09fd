/** Mode plan, seen from outside: nothing changes before a person has approved the plan that lies on disk. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { onSharedStage, serve, server, world } from "./harness/stage.ts";
import { Wire, type Reply as WireReply } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();

const isJudge = ({ system }: ModelRequest) => system.includes("You decide whether");
const worked = () => server.requests.filter((request) => !isJudge(request));
const textsOf = ({ messages }: ModelRequest) =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
const results = () =>
  worked().flatMap(({ lastToolResults }) => lastToolResults.map(({ content }) => String(content)));
/** As the model was told it. */
const planPath = (request: ModelRequest) =>
  textsOf(request).flatMap((said) => /Write the plan to (\S+\/plan\.md)/.exec(said)?.[1] ?? [])[0] ?? "";

type Step = (request: ModelRequest) => Reply;
const write = (path: string, content: string) =>
  toolUse({ name: "write", input: { file_path: path, content } });
const bash = (command: string) => toolUse({ name: "bash", input: { command } });
const exit = (...prompts: string[]) =>
  toolUse({
    name: "tool_call",
    input: {
      tool: "plan_exit",
      params: { allowed_prompts: prompts.map((prompt) => ({ tool: "bash", prompt })) },
    },
  });
const enter = toolUse({ name: "tool_call", input: { tool: "plan_enter", params: { reason: "many ways" } } });

async function begin(steps: readonly Step[], judge: Step = () => text("<block>yes</block>")): Promise<void> {
  await serve(
    (request) =>
      isJudge(request) ? judge(request) : (steps[request.assistantTurns]?.(request) ?? text("All done.")),
    "anthropic",
  );
  await world.crux(["daemon", "start"]);
}

async function until(wire: Wire, event: string): Promise<Record<string, unknown>> {
  for (;;) {
    const line: WireReply | undefined = await wire.next();
    if (line === undefined) throw new Error(`ended before ${event}`);
    if (line.payload?.event === event) return line.payload;
  }
}

const payload = (more: object = {}) => ({
  intent: "work",
  cwd: world.work,
  interactive: true,
  max_steps: 20,
  env: world.env,
  ...more,
});

it("crux --plan changes nothing but the plan; an edited plan is echoed and kept, and the mode before is back", async () => {
  await begin([
    () => write("a.txt", "too early\n"),
    (request) => write(planPath(request), "# Plan\nwrite a.txt\n"),
    () => exit(),
    () => write("a.txt", "approved\n"),
  ]);
  await using wire = await Wire.open(world.socket);
  await wire.ask("spawn", payload({ plan: true, permission_mode: "accept_edits" }));
  const asked = await until(wire, "ask");
  expect(asked).toMatchObject({
    tool: "plan_exit",
    text: "the plan, and continue in accept_edits mode",
    detail: "# Plan\nwrite a.txt\n",
    options: ["yes", "no"],
  });
  expect(existsSync(join(world.work, "a.txt"))).toBe(false);
  await using second = await Wire.open(world.socket);
  const answer = (more: object) => second.ask("ask.answer", { ask_id: asked.ask_id, answer: "yes", ...more });
  expect(await answer({ ask_id: "a_0000000000000000" })).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(await answer({ input: { plan: " " } })).toMatchObject({ error: { code: "INVALID" } });
  expect(await answer({ input: { plan: "# Plan\nas I say\n" } })).toMatchObject({ ok: true });
  expect(await until(wire, "complete")).toMatchObject({ exit_code: 0 });
  expect(results()[0]).toMatch(/^Error \[PERMISSION\]: .*plan mode/);
  expect(results()[2]).toContain("this is what counts:\n\n# Plan\nas I say");
  expect(world.file("a.txt")).toBe("approved\n");
  expect(readFileSync(planPath(worked()[0]!), "utf8")).toBe("# Plan\nas I say\n");
});

it("a plan is carried out in the mode that its approval names, if it was offered", async () => {
  await begin([
    (request) => write(planPath(request), "# Plan\nwrite a.txt\n"),
    () => exit(),
    () => write("a.txt", "approved\n"),
  ]);
  await using wire = await Wire.open(world.socket);
  await wire.ask("spawn", payload({ plan: true }));
  const asked = await until(wire, "ask");
  expect(asked).toMatchObject({ text: "the plan, and continue in default mode" });
  expect(asked.modes).toContain("accept_edits");
  expect(asked.modes).not.toContain("default");
  await using second = await Wire.open(world.socket);
  const answer = (words: string) => second.ask("ask.answer", { ask_id: asked.ask_id, answer: "yes", words });
  expect(await answer("bypass")).toMatchObject({ error: { code: "INVALID" } });
  expect(await answer("accept_edits")).toMatchObject({ ok: true });
  expect(await until(wire, "mode")).toMatchObject({ mode: "accept_edits" });
  // which asks for no write of a file
  expect(await until(wire, "complete")).toMatchObject({ exit_code: 0 });
  expect(world.file("a.txt")).toBe("approved\n");
});

it("approved words let just such commands run, as the model finds them to be; others ask", async () => {
  world.write("a.txt", "aaa\n");
  await begin(
    [
      (request) => write(planPath(request), "the plan"),
      () => exit("replace letters in a.txt"),
      () => bash("sed -i s/a/b/ a.txt"),
      () => bash("rm a.txt"),
    ],
    (request) => text(/sed -i/.test(textsOf(request).join("\n")) ? "<block>no" : "<block>yes"),
  );
  await using wire = await Wire.open(world.socket);
  await wire.ask("spawn", payload({ plan: true }));
  const first = await until(wire, "ask");
  expect(first.detail).toContain("  replace letters in a.txt");
  await using second = await Wire.open(world.socket);
  await second.ask("ask.answer", { ask_id: first.ask_id, answer: "yes" });
  const next = await until(wire, "ask");
  expect(next).toMatchObject({ tool: "bash", text: expect.stringContaining("rm a.txt") });
  expect(world.file("a.txt")).toBe("baa\n");
  await second.ask("ask.answer", { ask_id: next.ask_id, answer: "no" });
  await until(wire, "complete");
  expect(world.file("a.txt")).toBe("baa\n");
  expect(server.requests.filter(isJudge)).toHaveLength(2);
});

it("an empty plan is INVALID; a plan that is refused keeps it planning, with the person's words", async () => {
  await begin([
    () => exit(),
    (request) => write(planPath(request), "a plan"),
    () => exit(),
    () => write("a.txt", "x"),
  ]);
  await using wire = await Wire.open(world.socket);
  await wire.ask("spawn", payload({ permission_mode: "plan" }));
  const asked = await until(wire, "ask");
  await using second = await Wire.open(world.socket);
  await second.ask("ask.answer", { ask_id: asked.ask_id, answer: "no", words: "say more about tests" });
  await until(wire, "complete");
  expect(results()[0]).toMatch(/^Error \[INVALID\]: the plan is empty/);
  expect(results()[2]).toContain("say more about tests");
  expect(results()[3]).toMatch(/^Error \[PERMISSION\]: .*plan mode/);
  expect(existsSync(join(world.work, "a.txt"))).toBe(false);
});

it("plan_enter asks and plans, and is CONFLICT the second time; with nobody there both are PERMISSION", async () => {
  await begin([() => enter, () => enter, () => write("a.txt", "x")]);
  await using wire = await Wire.open(world.socket);
  await wire.ask("spawn", payload({ permission_mode: "accept_edits" }));
  const asked = await until(wire, "ask");
  expect(asked).toMatchObject({ tool: "plan_enter", detail: "reason: many ways" });
  await using second = await Wire.open(world.socket);
  await second.ask("ask.answer", { ask_id: asked.ask_id, answer: "yes" });
  await until(wire, "complete");
  expect(results()[0]).toContain("Mode plan is on.");
  expect(results()[1]).toMatch(/^Error \[CONFLICT\]: /);
  expect(results()[2]).toMatch(/^Error \[PERMISSION\]: .*plan mode/);
  const before = server.requests.length;
  await world.crux(["alone"]);
  const alone = server.requests.slice(before).flatMap(({ lastToolResults }) => lastToolResults);
  expect(String(alone[0]!.content)).toMatch(/^Error \[PERMISSION\]: /);
});

it("kill -9 while the plan waits: the same question comes again, and the mode before is known still", async () => {
  await begin([
    (request) => write(planPath(request), "the plan"),
    () => exit(),
    () => write("a.txt", "approved\n"),
  ]);
  const wire = await Wire.open(world.socket);
  await wire.ask("spawn", payload({ plan: true, permission_mode: "accept_edits" }));
  const { pid, ask_id } = await until(wire, "ask");
  process.kill(world.daemonPid!, "SIGKILL");
  await wire.rest();
  await settled(
    () => world.processes().length,
    (count) => count === 0,
  );
  await world.crux(["ps"]);
  await using back = await Wire.open(world.socket);
  await back.ask("process.attach", { pid, interactive: true });
  await using hand = await Wire.open(world.socket);
  await hand.ask("process.resume", { pid, env: world.env });
  expect(await until(back, "ask")).toMatchObject({ ask_id, tool: "plan_exit", detail: "the plan" });
  expect(existsSync(join(world.work, "a.txt"))).toBe(false);
  expect(await hand.ask("ask.answer", { ask_id, answer: "yes" })).toMatchObject({ ok: true });
  expect(await until(back, "complete")).toMatchObject({ exit_code: 0 });
  expect(world.file("a.txt")).toBe("approved\n");
});
