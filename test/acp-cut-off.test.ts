/** `crux acp` while it is cut off: whatever becomes of its prompts meanwhile, each is answered once, and as it ended. */
import { expect, it } from "vitest";
import { EditorDouble } from "./harness/editor.ts";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { error, type Reply, text } from "./model-server/reply.ts";

onStage();

/** A session that works on `first`, and its editor, which hears nothing until `back`. */
async function cutOff(answer: () => Reply, prompts: readonly string[]) {
  let isGone = false;
  await serve(() => (isGone ? answer() : text("I begin, and").stall({ afterEvents: 2 })));
  const editor = await EditorDouble.open(world);
  const { sessionId } = await editor.begin(world.work);
  const answered = prompts.map((words) =>
    editor.prompt(sessionId, words).then(
      ({ stopReason }) => stopReason,
      ({ code, message, data }) => ({ code, message, data }),
    ),
  );
  await editor.until("agent_message_chunk");
  editor.child.kill("SIGSTOP");
  process.kill(world.daemonPid!, "SIGKILL");
  await world.left(1);
  isGone = true;
  return {
    editor,
    sessionId,
    answered,
    back: async () => {
      editor.child.kill("SIGCONT");
      return Promise.all(answered);
    },
  };
}

/** Another client opens the session, whose run goes on, until it waits again. */
async function untilOver(uuid: string): Promise<void> {
  const other = await EditorDouble.open(world);
  await other.agent.request("session/resume", { sessionId: uuid, cwd: world.work });
  await settled(
    () => server.requests.length,
    (count) => count >= 2,
  );
  await waits();
  other.child.kill("SIGKILL");
  await other.exited;
}

/** The session waits for a message. */
async function waits(): Promise<void> {
  await using wire = await Wire.open(world.socket);
  const state = await settled(
    async () => {
      const listed = await wire.ask("session.list", { all: true });
      return (listed!.payload!.sessions as { state: string }[])[0]!.state;
    },
    (now) => now === "waiting",
  );
  expect(state).toBe("waiting");
}

it("a run that failed meanwhile fails its prompt, with the words that it failed with", async () => {
  const cut = await cutOff(() => error(400), ["go"]);
  await untilOver(cut.sessionId);
  expect(await cut.back()).toMatchObject([
    { code: -32602, data: { code: "INVALID", terminal_reason: "model_error" } },
  ]);
  expect(await cut.editor.prompt(cut.sessionId, "more").catch(({ code }) => code)).toBe(-32602);
  await cut.editor.close();
});

it("a run that fails after it is back fails its prompt", async () => {
  const cut = await cutOff(() => error(400), ["go"]);
  expect(await cut.back()).toMatchObject([
    { code: -32602, data: { code: "INVALID", terminal_reason: "model_error" } },
  ]);
  await cut.editor.close();
});

it("a run that completed meanwhile answers all that it has read, and its words come once", async () => {
  const cut = await cutOff(() => text("I begin, and end."), ["one", "two"]);
  await untilOver(cut.sessionId);
  expect(await cut.back()).toEqual(["end_turn", "end_turn"]);
  expect(cut.editor.said("agent_message_chunk")).toBe("I begin, and end.");
  await cut.editor.close();
});

it("a prompt that is cancelled while the daemon is gone is cancelled, and its run does not go on", async () => {
  const cut = await cutOff(() => text("On it goes").stall({ afterEvents: 2 }), ["go"]);
  const cancelled = cut.editor.cancel(cut.sessionId);
  expect(await cut.back()).toEqual(["cancelled"]);
  await cancelled;
  await waits();
  await cut.editor.close();
});

it("a run that another client interrupted meanwhile answers with cancelled", async () => {
  const cut = await cutOff(() => text("On it goes").stall({ afterEvents: 2 }), ["go"]);
  const other = await EditorDouble.open(world);
  await other.agent.request("session/resume", { sessionId: cut.sessionId, cwd: world.work });
  await settled(
    () => server.requests.length,
    (count) => count >= 2,
  );
  await world.crux(["kill", "1", "--signal", "INT"]);
  await waits();
  other.child.kill("SIGKILL");
  await other.exited;
  expect(await cut.back()).toEqual(["cancelled"]);
  await cut.editor.close();
});

it("a session that was ended meanwhile answers all its prompts, and is not brought back", async () => {
  const cut = await cutOff(() => text("On it goes").stall({ afterEvents: 2 }), ["go", "waits"]);
  await world.crux(["kill", "1"]);
  await settled(
    async () => (await world.crux(["ps", "--json"])).stdout,
    (shown) => !shown.includes('"pid":1,'),
  );
  expect(await cut.back()).toEqual(["cancelled", "cancelled"]);
  await cut.editor.close();
});

it("prompts that are said as the daemon goes are read and answered once, whenever it goes", async () => {
  await serve(({ lastUserText }) => text(`Answer to ${lastUserText.split("\n").at(-1)};`));
  const editor = await EditorDouble.open(world);
  const { sessionId } = await editor.begin(world.work);
  const words = [0, 1, 3, 5].map((n) => `words-${n}`);
  for (const [n, each] of words.entries()) {
    const answer = editor.prompt(sessionId, each);
    await new Promise((resolve) => setTimeout(resolve, n * 4));
    process.kill(world.daemonPid!, "SIGKILL");
    expect([each, await answer]).toEqual([each, { stopReason: "end_turn" }]);
  }
  await using wire = await Wire.open(world.socket);
  const page = await wire.ask("session.history", { pid: 1, limit: 200 });
  const messages = page!.payload!.messages as { role: string; text: string }[];
  const said = messages.filter(({ role }) => role === "user").flatMap(({ text: all }) => all.split("\n"));
  for (const each of words) expect([each, said.filter((line) => line === each)]).toEqual([each, [each]]);
  const told = editor.said("agent_message_chunk");
  for (const each of words) expect([each, told.split(`Answer to ${each};`).length]).toEqual([each, 2]);
  await editor.close();
});
