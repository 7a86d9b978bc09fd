/** `crux acp`: a prompt is cancelled and another sent at once, many times: nothing is lost, and nothing comes twice. */
import { expect, it } from "vitest";
import { EditorDouble } from "./harness/editor.ts";
import { onStage, serve, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { text } from "./model-server/reply.ts";

onStage();

const CYCLES = Number(process.env.CRUX_ACP_CYCLES ?? 25);

it("cancel and resubmit: each prompt has its own answer, and the session has read each once", async () => {
  await serve((request) => text(`Answer to ${request.lastUserText.split("\n").at(-1)};`));
  const editor = await EditorDouble.open(world);
  const { sessionId } = await editor.begin(world.work);
  for (let i = 0; i < CYCLES; i++) {
    const [dropped, waiting] = [
      editor.prompt(sessionId, `dropped-${i}`),
      editor.prompt(sessionId, `waits-${i}`),
    ];
    const cancelled = editor.cancel(sessionId);
    const kept = editor.prompt(sessionId, `kept-${i}`);
    await cancelled;
    expect(await dropped).toEqual({ stopReason: "cancelled" });
    expect(await waiting).toEqual({ stopReason: "cancelled" });
    expect(await kept).toEqual({ stopReason: "end_turn" });
  }
  const { sessions } = await editor.agent.request("session/list", { cwd: world.work });
  expect(sessions).toHaveLength(1);
  const said = await saidIn(sessionId);
  const times = (words: string) => said.filter((each) => each === words).length;
  for (let i = 0; i < CYCLES; i++) {
    expect([i, times(`kept-${i}`)]).toEqual([i, 1]);
    expect(times(`dropped-${i}`)).toBeLessThanOrEqual(1);
    expect(times(`waits-${i}`)).toBeLessThanOrEqual(1);
  }
  const answers = editor.said("agent_message_chunk");
  for (let i = 0; i < CYCLES; i++) expect(answers.split(`Answer to kept-${i};`)).toHaveLength(2);
  expect(await editor.close()).toBe(0);
  expect(editor.stderr).toBe("");
}, 1_800_000);

/** All messages of the user, by the daemon. */
async function saidIn(uuid: string): Promise<string[]> {
  await using wire = await Wire.open(world.socket);
  const listed = await wire.ask("session.list", { all: true });
  const sessions = listed!.payload!.sessions as { uuid: string; pid: number }[];
  const { pid } = sessions.find((session) => session.uuid === uuid)!;
  const said: string[] = [];
  for (let before: unknown, isFirst = true; isFirst || before !== undefined; isFirst = false) {
    const page = await wire.ask("session.history", { pid, limit: 200, ...(isFirst ? {} : { before }) });
    const messages = page!.payload!.messages as { role: string; text: string }[];
    said.push(...messages.filter(({ role }) => role === "user").flatMap(({ text }) => text.split("\n")));
    before = page!.payload!.next;
  }
  return said;
}
