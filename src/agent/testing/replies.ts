/** For tests: what a model says and what an agent is, with all that a test does not care for filled in. */
import type { AgentInfo, AgentManifest } from "../../abi/agent.ts";
import type { Block, Reply, StreamEvent } from "../../abi/llm.ts";
import type { FakeTool } from "./fake-process.ts";

export function reply(blocks: readonly Block[] | string, more: Partial<Reply> = {}): Reply {
  const list: readonly Block[] = typeof blocks === "string" ? [{ type: "text", text: blocks }] : blocks;
  const usage = {
    input_tokens: 80,
    output_tokens: 20,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const stopReason = list.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
  return { id: "m1", model: "fake-1", blocks: [...list], stopReason, usage, ...more };
}

export function call(
  name: string,
  input: unknown = {},
  id = `id-${name}`,
): Extract<Block, { type: "tool_use" }> {
  return { type: "tool_use", id, name, input };
}

export function says(text: string, parallel = false): FakeTool {
  return { parallel, run: () => ({ ok: true, content: [{ type: "text", text }] }) };
}

export function eventsOf(reply: Reply): StreamEvent[] {
  const { id, model, usage, stopReason } = reply;
  const blocks = reply.blocks.flatMap((content_block, index): StreamEvent[] => [
    { type: "content_block_start", index, content_block },
    { type: "content_block_stop", index },
  ]);
  return [
    { type: "message_start", message: { id, model, usage } },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: stopReason }, usage },
    { type: "message_stop" },
  ];
}

export function agentInfo(manifest: Partial<AgentManifest> = {}): AgentInfo {
  const base = {
    name: "a",
    description: "",
    models: {},
    contextBudget: 0,
    maxSteps: 0,
    skills: [],
    tools: null,
    mcp: [],
  };
  return {
    manifest: { ...base, ...manifest },
    instructions: "",
    skills: [],
    systemPrompt: "",
    allowedDevices: null,
  };
}
