/** `crux acp` with the protocol's own client: sessions of an editor, on real pipes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { EditorDouble } from "./harness/editor.ts";
import { onSharedStage, onStage, serve, serveInTurn, server, startModel, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { blocks, error, text, thinking, toolUse } from "./model-server/reply.ts";

const bash = (command: string) => toolUse({ name: "bash", input: { command } }, { text: "I run it." });
const SCRIPTED = fileURLToPath(new URL("../src/dev/mcp/testing/scripted-server.ts", import.meta.url));
const WORDS = "The first half, and then the second half.";

describe("crux acp", () => {
  onSharedStage();

  it("says what it can, begins a session, and answers a prompt after the last update", async () => {
    await serveInTurn(text("Hello from the model."));
    const editor = await EditorDouble.open(world);
    const { sessionId, modes, configOptions } = await editor.begin(world.work);
    expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(modes).toMatchObject({ currentModeId: "default" });
    const offered = modes!.availableModes.map(({ id }) => id);
    expect(offered).toEqual(["default", "accept_edits", "plan", "auto", "dont_ask"]);
    expect(configOptions).toMatchObject([
      { id: "mode", category: "mode", currentValue: "default" },
      { id: "model", category: "model", currentValue: "openai/test-model" },
    ]);
    expect(await editor.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
    expect(editor.said("agent_message_chunk")).toBe("Hello from the model.");
    const usage = { used: expect.any(Number), size: expect.any(Number) };
    expect(editor.all("usage_update")).toMatchObject([usage]);
    expect(editor.all("session_info_update")).toMatchObject([{ title: "hello" }]);
    expect(await editor.close()).toBe(0);
    expect(editor.stderr).toBe("");
  });

  it("sends thinking, calls with kind, place and change, and their results", async () => {
    const path = world.write("notes.txt", "one\ntwo\n");
    await serve((request) => {
      const turns = [
        blocks(thinking("I look first."), toolUse({ name: "view", input: { file_path: path } })),
        toolUse({ name: "edit", input: { file_path: path, old_string: "two", new_string: "three" } }),
      ];
      return turns[request.assistantTurns] ?? text("Done.");
    }, "anthropic");
    const editor = await EditorDouble.open(world, { flags: ["--permission-mode", "accept_edits"] });
    const { sessionId } = await editor.begin(world.work);
    expect(await editor.prompt(sessionId, "change it")).toEqual({ stopReason: "end_turn" });
    expect(editor.said("agent_thought_chunk")).toBe("I look first.");
    expect(editor.said("agent_message_chunk")).toBe("Done.");
    expect(world.file("notes.txt")).toBe("one\nthree\n");
    const [view, edit] = editor.all("tool_call");
    const changesOf = (id: string) => editor.all("tool_call_update").filter((each) => each.toolCallId === id);
    expect(view).toMatchObject({ name: "view", kind: "read" });
    expect(changesOf(view!.toolCallId).map(({ status }) => status)).toEqual(["in_progress", "completed"]);
    expect(JSON.stringify(changesOf(view!.toolCallId)[1]!.content)).toContain("two");
    expect(edit).toMatchObject({ name: "edit", kind: "edit" });
    const [begun, ended] = changesOf(edit!.toolCallId);
    expect(begun).toMatchObject({ title: `edit ${path}`, locations: [{ path }] });
    expect(ended).toMatchObject({ content: [{ type: "diff", path, oldText: "two", newText: "three" }] });
    await editor.close();
  });

  it("reads what is not saved in the editor, and writes through it, behind the same questions", async () => {
    const path = world.write("notes.txt", "one\ntwo\n");
    await serve((request) => {
      const turns = [
        toolUse({ name: "view", input: { file_path: path } }),
        toolUse({ name: "edit", input: { file_path: path, old_string: "unsaved", new_string: "edited" } }),
        toolUse({ name: "write", input: { file_path: `${world.work}/made.txt`, content: "made\n" } }),
      ];
      return turns[request.assistantTurns] ?? text("Done.");
    });
    const fs = { readTextFile: true, writeTextFile: true };
    const editor = await EditorDouble.open(world, { capabilities: { fs } });
    editor.permit = () => ({ outcome: "selected", optionId: "yes" });
    editor.buffers.set(path, "one\nunsaved\n");
    const { sessionId } = await editor.begin(world.work);
    expect(await editor.prompt(sessionId, "change it")).toEqual({ stopReason: "end_turn" });
    expect(editor.asked).toHaveLength(2);
    expect([...editor.buffers]).toEqual([
      [path, "one\nedited\n"],
      [`${world.work}/made.txt`, "made\n"],
    ]);
    expect(world.file("notes.txt")).toBe("one\nedited\n");
    await editor.close();
    expect(editor.stderr).toBe("");
  });

  it("works in the editor's other folders, and calls its servers behind the same questions", async () => {
    const notes = join(world.dir, "notes");
    mkdirSync(notes);
    writeFileSync(join(notes, "plan.txt"), "the plan\n");
    await serveInTurn(
      toolUse({ name: "view", input: { file_path: join(notes, "plan.txt") } }),
      toolUse({ name: "tool_search", input: { query: "select:mcp__my_tools__echo" } }),
      toolUse({ name: "tool_call", input: { tool: "mcp__my_tools__echo", params: { text: "hi $HOME" } } }),
      text("Done."),
      toolUse({ name: "tool_search", input: { query: "select:mcp__more__echo" } }),
      toolUse({ name: "tool_call", input: { tool: "mcp__more__echo", params: { text: "hi more" } } }),
      text("Done again."),
    );
    const editor = await EditorDouble.open(world, {
      permit: () => ({ outcome: "selected", optionId: "yes" }),
    });
    const myTools = { name: "my tools", command: process.execPath, args: [SCRIPTED], env: [] };
    const { sessionId } = await editor.begin(world.work, {
      additionalDirectories: [notes],
      mcpServers: [myTools],
    });
    await editor.prompt(sessionId, "use them");
    const [seen, , called] = [1, 2, 3].map((n) => server.requests[n]!.lastToolResults[0]!.content);
    expect(seen).toContain("the plan");
    expect(called).toContain("hi $HOME");
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual([expect.stringContaining("echo")]);
    // brought back, it has them still, and those that the editor names now
    await editor.agent.request("session/close", { sessionId });
    const more = { name: "more", command: process.execPath, args: [SCRIPTED], env: [] };
    const again = { sessionId, cwd: world.work, additionalDirectories: [notes] };
    await editor.agent.request("session/resume", { ...again, mcpServers: [myTools] });
    await editor.agent.request("session/resume", { ...again, mcpServers: [myTools, more] });
    await editor.prompt(sessionId, "use the other one");
    expect(server.requests.at(-1)?.lastToolResults[0]?.content).toContain("hi more");
    await editor.close();
  });

  it("asks the editor, once or for the session, and takes a no for all else", async () => {
    await serve((request) =>
      request.lastUserText.includes("again") || request.assistantTurns % 2 === 0
        ? bash("git init -q; true > made")
        : text("Ended."),
    );
    const editor = await EditorDouble.open(world);
    const { sessionId } = await editor.begin(world.work);
    editor.permit = () => ({ outcome: "cancelled" });
    await editor.prompt(sessionId, "do it");
    const [first] = editor.asked;
    expect(first!.options.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["allow_once", "reject_once"]),
    );
    expect(first!.toolCall.toolCallId).toBe(editor.all("tool_call")[0]!.toolCallId);
    expect(() => world.file("made")).toThrow();
    editor.permit = () => ({ outcome: "selected", optionId: "yes" });
    await editor.prompt(sessionId, "do it now");
    expect(world.file("made")).toBe("");
    expect(editor.asked).toHaveLength(2);
    await editor.close();
  });

  it("shows the steps of a task list as a plan, the whole of it each time", async () => {
    await serveInTurn(
      toolUse({ name: "task_create", input: { subject: "Look", description: "at it" } }),
      toolUse({
        name: "tool_call",
        input: { tool: "task_create", params: { subject: "Change", description: "it" } },
      }),
      toolUse({ name: "task_update", input: { task_id: "1", status: "completed" } }),
      text("So far."),
    );
    const editor = await EditorDouble.open(world);
    const { sessionId } = await editor.begin(world.work);
    await editor.prompt(sessionId, "plan it");
    const plans = editor.all("plan").map(({ entries }) => entries.map((each) => [each.content, each.status]));
    expect(plans.at(-1)).toEqual([
      ["Look", "completed"],
      ["Change", "pending"],
    ]);
    await editor.close();
  });

  it("interrupts a run, and takes back the prompts that wait behind it", async () => {
    await serve((request) =>
      request.lastUserText.includes("third") ? text("The third.") : bash("echo > begun; sleep 60"),
    );
    const editor = await EditorDouble.open(world, {
      permit: () => ({ outcome: "selected", optionId: "yes" }),
    });
    const { sessionId } = await editor.begin(world.work);
    const first = editor.prompt(sessionId, "the first");
    await settled(
      () => world.commands(/sleep 60/).length,
      (count) => count > 0,
    );
    const second = editor.prompt(sessionId, "the second");
    await editor.cancel(sessionId);
    expect(await first).toEqual({ stopReason: "cancelled" });
    expect(await second).toEqual({ stopReason: "cancelled" });
    expect(await editor.prompt(sessionId, "the third")).toEqual({ stopReason: "end_turn" });
    expect(editor.said("agent_message_chunk")).toContain("The third.");
    expect(server.requests.some(({ messages }) => JSON.stringify(messages).includes("the second"))).toBe(
      false,
    );
    await editor.close();
  });

  it("a mode is set by its method or its option, and every client is told", async () => {
    await serveInTurn(text("Yes."));
    const editor = await EditorDouble.open(world);
    const { sessionId } = await editor.begin(world.work, { _meta: { permissionMode: "acceptEdits" } });
    const { modes } = await editor.agent.request("session/load", {
      sessionId,
      cwd: world.work,
      mcpServers: [],
    });
    expect(modes?.currentModeId).toBe("accept_edits");
    await editor.agent.request("session/set_mode", { sessionId, modeId: "plan" });
    await editor.until("current_mode_update");
    const configured = await editor.agent.request("session/set_config_option", {
      sessionId,
      configId: "mode",
      value: "default",
    });
    expect(configured.configOptions).toMatchObject([{ currentValue: "default" }, {}]);
    await editor.until("current_mode_update", 2);
    const told = editor.all("current_mode_update").map(({ currentModeId }) => currentModeId);
    expect(told).toEqual(["plan", "default"]);
    // another client switches it
    const { stdout } = await world.crux(["sessions", "--json"]);
    const { sessions } = (JSON.parse(stdout) as { data: { sessions: { pid: number }[] } }).data;
    await world.crux(["mode", String(sessions[0]?.pid), "accept_edits"]);
    await editor.until("config_option_update", 3);
    const options = editor.all("config_option_update").at(-1)?.configOptions;
    expect(options).toMatchObject([{ id: "mode", currentValue: "accept_edits" }, { id: "model" }]);
    const bypass = editor.agent.request("session/set_mode", { sessionId, modeId: "bypass" });
    await expect(bypass).rejects.toMatchObject({ code: -32602 });
    await editor.close();
  });

  it("begins in the mode that the editor names, else in that of the settings; what is none is passed over", async () => {
    await serveInTurn(text("Yes."));
    world.settings({ permissions: { defaultMode: "plan" } });
    const editor = await EditorDouble.open(world);
    const modeOf = async (more: object) => (await editor.begin(world.work, more)).modes?.currentModeId;
    expect(await modeOf({})).toBe("plan");
    expect(await modeOf({ _meta: { permissionMode: "acceptEdits" } })).toBe("accept_edits");
    expect(await modeOf({ _meta: { permissionMode: "anything" } })).toBe("plan");
    expect(await modeOf({ _meta: { permissionMode: "bypass" } })).toBe("plan");
    await editor.close();
  });

  it("a model is chosen for the next prompt, and shown as chosen when the session is loaded", async () => {
    await serveInTurn(text("One."), text("Two."));
    const editor = await EditorDouble.open(world);
    const { sessionId } = await editor.begin(world.work);
    await editor.prompt(sessionId, "first");
    const { configOptions } = await editor.agent.request("session/set_config_option", {
      sessionId,
      configId: "model",
      value: "openai/other-model",
    });
    expect(configOptions).toMatchObject([
      { id: "mode" },
      { id: "model", currentValue: "openai/other-model" },
    ]);
    await editor.prompt(sessionId, "second");
    expect(server.requests.map(({ model }) => model)).toEqual(["test-model", "other-model"]);
    await editor.until("config_option_update");
    const [, told] = editor.all("config_option_update").at(-1)?.configOptions ?? [];
    expect(told).toMatchObject({ id: "model", currentValue: "openai/other-model" });
    const loaded = await editor.agent.request("session/load", { sessionId, cwd: world.work, mcpServers: [] });
    expect(loaded.configOptions).toMatchObject([{}, { currentValue: "openai/other-model" }]);
    await editor.close();
  });

  it("keeps its sessions when the editor goes, and loads them with all that was said", async () => {
    await serveInTurn(text("One."), text("Two."));
    const before = await EditorDouble.open(world);
    const { sessionId } = await before.begin(world.work);
    await before.prompt(sessionId, "first");
    before.child.kill("SIGKILL");
    await before.exited;
    const editor = await EditorDouble.open(world);
    const { sessions } = await editor.agent.request("session/list", { cwd: world.work });
    expect(sessions).toMatchObject([{ sessionId, cwd: world.work, title: "first" }]);
    await editor.agent.request("session/load", { sessionId, cwd: world.work, mcpServers: [] });
    expect(editor.said("user_message_chunk")).toBe("first");
    expect(editor.said("agent_message_chunk")).toBe("One.");
    expect(await editor.prompt(sessionId, "second")).toEqual({ stopReason: "end_turn" });
    expect(editor.said("agent_message_chunk")).toBe("One.Two.");
    await editor.agent.request("session/close", { sessionId });
    await expect(editor.prompt(sessionId, "third")).rejects.toMatchObject({ code: -32002 });
    await editor.close();
  });

  it("fails with the numbers of the protocol", async () => {
    await serve(() => error(400, "invalid_request_error", "the model refuses this"));
    const editor = await EditorDouble.open(world);
    await expect(editor.begin("relative")).rejects.toMatchObject({ code: -32602, data: { code: "INVALID" } });
    await expect(editor.prompt("nobody", "hi")).rejects.toMatchObject({ code: -32002 });
    const { sessionId } = await editor.begin(world.work);
    const failed = editor.prompt(sessionId, "hello");
    await expect(failed).rejects.toMatchObject({
      code: -32602,
      data: { code: "INVALID", terminal_reason: "model_error" },
    });
    const image = { type: "image" as const, data: "", mimeType: "image/png" };
    const pictured = editor.agent.request("session/prompt", { sessionId, prompt: [image] });
    await expect(pictured).rejects.toMatchObject({ code: -32602 });
    await editor.close();
  });

  it("answers bad JSON with a null id, and a missing key with -32000", async () => {
    await startModel({ script: text("never asked") });
    const crux = world.start(["acp"], { stdin: "no json\n" });
    const { stdout, code } = await crux.done;
    const line = { jsonrpc: "2.0", id: null, error: expect.objectContaining({ code: -32700 }) };
    expect(JSON.parse(stdout)).toEqual(line);
    expect(code).toBe(0);
    const editor = await EditorDouble.open(world);
    await expect(editor.begin(world.work)).rejects.toMatchObject({ code: -32000 });
    await editor.close();
  });

  it("refuses wrong flags before it reads anything", async () => {
    await startModel({ script: text("never asked") });
    const run = await world.crux(["acp", "--permission-mode", "fast"]);
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(/unknown permission mode: fast/);
  });
});

describe("crux acp, in a world of its own,", () => {
  onStage();

  it("a daemon that is killed in the middle of a reply: nothing is lost, and nothing comes twice", async () => {
    let requests = 0;
    await serve(() => {
      requests++;
      return requests === 1 ? text(WORDS).stall({ afterEvents: 2 }) : text(WORDS);
    });
    const editor = await EditorDouble.open(world);
    const { sessionId } = await editor.begin(world.work);
    const answer = editor.prompt(sessionId, "tell me");
    await editor.until("agent_message_chunk");
    process.kill(world.daemonPid!, "SIGKILL");
    expect(await answer).toEqual({ stopReason: "end_turn" });
    expect(editor.said("agent_message_chunk")).toBe(WORDS);
    await editor.close();
  });
});
