/** `crux acp` and editors as they are: what they reject for good, sessions that come back, and editors that are gone or silent. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EditorDouble } from "./harness/editor.ts";
import { onSharedStage, serve, server, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";

onSharedStage();

const bash = (command: string) => toolUse({ name: "bash", input: { command } }, { text: "I run it." });
const ALLOWED = { outcome: "selected", optionId: "yes" } as const;
const silent = () => new Promise<never>(() => {});

describe("crux acp, for an editor", () => {
  it("that rejects always: the rule is a grant of the session, which is shown and taken back", async () => {
    await serve((request) => (request.assistantTurns % 2 === 0 ? bash("mkdir made") : text("Ended.")));
    const first = await EditorDouble.open(world, {
      permit: () => ({ outcome: "selected", optionId: "never" }),
    });
    const { sessionId } = await first.begin(world.work);
    await first.prompt(sessionId, "make it");
    expect(first.asked.map(({ options }) => options.map(({ kind }) => kind))).toEqual([
      ["allow_once", "allow_always", "reject_once", "reject_always"],
    ]);
    await first.close();
    const editor = await EditorDouble.open(world, { permit: () => ALLOWED });
    await editor.agent.request("session/resume", { sessionId, cwd: world.work });
    await editor.prompt(sessionId, "make it, again");
    expect(editor.asked).toEqual([]);
    const { stdout } = await world.crux(["grants", "--json"]);
    const [grant] = (JSON.parse(stdout) as { data: { grants: { id: string }[] } }).data.grants;
    expect(grant).toMatchObject({ behavior: "deny", rule: "bash(mkdir made:*)", scope: "session" });
    await world.crux(["grants", "rm", grant!.id]);
    await editor.prompt(sessionId, "make it, at last");
    expect(editor.asked).toHaveLength(1);
    await editor.close();
  });

  it("that loads a session: calls have their kind, place and change, and the plan stands", async () => {
    const path = world.write("notes.txt", "one\ntwo\n");
    await serve(
      ({ assistantTurns }) =>
        [
          toolUse({ name: "edit", input: { file_path: path, old_string: "two", new_string: "three" } }),
          toolUse({ name: "task_create", input: { subject: "Look", description: "at it" } }),
        ][assistantTurns] ?? text("Done."),
    );
    const first = await EditorDouble.open(world, { flags: ["--permission-mode", "accept_edits"] });
    const { sessionId } = await first.begin(world.work);
    await first.prompt(sessionId, "change it");
    await first.close();
    const editor = await EditorDouble.open(world);
    await editor.agent.request("session/load", { sessionId, cwd: world.work, mcpServers: [] });
    await editor.until("plan");
    expect(editor.all("tool_call")[0]).toMatchObject({
      title: `edit ${path}`,
      kind: "edit",
      status: "completed",
      locations: [{ path }],
      content: [{ type: "diff", path, oldText: "two", newText: "three" }],
    });
    expect(editor.all("plan").at(-1)?.entries).toMatchObject([{ content: "Look", status: "pending" }]);
    await editor.close();
  });

  it("that is killed while it is asked: the next one is asked the same, and the run goes on", async () => {
    await serve(({ assistantTurns }) => (assistantTurns === 0 ? bash("mkdir made") : text("Ended.")));
    const first = await EditorDouble.open(world, { permit: silent });
    const { sessionId } = await first.begin(world.work);
    first.prompt(sessionId, "make it").catch(() => {});
    await settled(
      () => first.asked.length,
      (count) => count > 0,
    );
    first.child.kill("SIGKILL");
    await first.exited;
    const editor = await EditorDouble.open(world, { permit: () => ALLOWED });
    await editor.agent.request("session/load", { sessionId, cwd: world.work, mcpServers: [] });
    await settled(
      () => editor.said("agent_message_chunk"),
      (said) => said.includes("Ended."),
    );
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual([first.asked[0]!.toolCall.title]);
    await editor.close();
  });

  it("that never answers: a cancelled run ends, whether it waits for a permission or for a file", async () => {
    const path = world.write("notes.txt", "one\n");
    await serve(({ lastUserText }) => {
      if (lastUserText.includes("make")) return bash("mkdir made");
      if (lastUserText.includes("read")) return toolUse({ name: "view", input: { file_path: path } });
      return text("Ended.");
    });
    const editor = await EditorDouble.open(world, {
      permit: silent,
      capabilities: { fs: { readTextFile: true, writeTextFile: true } },
      reads: silent,
    });
    const { sessionId } = await editor.begin(world.work);
    const made = editor.prompt(sessionId, "make it");
    await settled(
      () => editor.asked.length,
      (count) => count > 0,
    );
    await editor.cancel(sessionId);
    expect(await made).toEqual({ stopReason: "cancelled" });
    const read = editor.prompt(sessionId, "read it");
    await settled(
      () => editor.all("tool_call").filter(({ kind }) => kind === "read").length,
      (count) => count > 0,
    );
    await editor.cancel(sessionId);
    expect(await read).toEqual({ stopReason: "cancelled" });
    expect(await editor.prompt(sessionId, "and now")).toEqual({ stopReason: "end_turn" });
    await editor.close();
    expect(editor.stderr).toBe("");
  });

  it("that is killed while a command runs: the run ends by itself, and nothing is left", async () => {
    await serve(({ assistantTurns }) =>
      assistantTurns === 0 ? bash("sleep 1; mkdir made") : text("Ended."),
    );
    const editor = await EditorDouble.open(world, { permit: () => ALLOWED });
    const { sessionId } = await editor.begin(world.work);
    editor.prompt(sessionId, "make it").catch(() => {});
    await settled(
      () => world.commands(/sleep 1/).length,
      (count) => count > 0,
    );
    editor.child.kill("SIGKILL");
    await editor.exited;
    await settled(
      () => server.requests.length,
      (count) => count > 1,
    );
    expect(world.commands(/sleep 1/)).toEqual([]);
    expect((await world.crux(["sessions", "--json"])).stdout).toContain(sessionId);
  });

  it("with two sessions at once: each is told of its own alone", async () => {
    await serve(({ lastUserText }) => text(`Answer to ${lastUserText.split("\n").at(-1)}.`));
    const editor = await EditorDouble.open(world);
    const ids = [await editor.begin(world.work), await editor.begin(world.work)].map(
      (each) => each.sessionId,
    );
    await Promise.all(ids.map((id, n) => editor.prompt(id, `question ${n}`)));
    const said = ids.map((id) => editor.saidIn(id));
    expect(said).toEqual(["Answer to question 0.", "Answer to question 1."]);
    await editor.close();
  });

  it("that names what is not there: a folder is refused, a server of any name is taken", async () => {
    await serve(() => text("Yes."));
    const editor = await EditorDouble.open(world);
    const gone = join(world.work, "gone");
    for (const wanted of [editor.begin(gone), editor.begin(world.work, { additionalDirectories: [gone] })])
      await expect(wanted).rejects.toMatchObject({ code: -32602, message: `no folder: ${gone}` });
    const named = { name: "文件", command: "/nowhere", args: [], env: [] };
    const { sessionId } = await editor.begin(world.work, { mcpServers: [named] });
    expect(await editor.prompt(sessionId, "hi")).toEqual({ stopReason: "end_turn" });
    await editor.close();
  });
});
