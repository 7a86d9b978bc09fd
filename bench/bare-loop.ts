/**
 * The baseline of a turn: fetch a streamed reply, parse it, spawn the command, append both. Nothing else.
 * As a process of its own it makes one conversation for each `{baseUrl, calls}` it is sent, or the one of its arguments.
 */
import { spawn } from "node:child_process";

interface Call {
  id: string;
  name: string;
  input: string;
}

const TOOL = {
  name: "bash",
  description: "Runs a command.",
  input_schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

/** Milliseconds for a conversation with `calls` shell calls and a last answer. */
export async function bareLoop(baseUrl: string, calls: number): Promise<number> {
  const began = performance.now();
  const messages: unknown[] = [{ role: "user", content: "run the shell" }];
  for (let turn = 0; turn <= calls; turn++) {
    const call = await ask(baseUrl, messages);
    if (call === undefined) break;
    const input = JSON.parse(call.input) as { command: string };
    const content = await run(input.command);
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id: call.id, name: call.name, input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content }] },
    );
  }
  return performance.now() - began;
}

async function ask(baseUrl: string, messages: readonly unknown[]): Promise<Call | undefined> {
  const response = await fetch(`${baseUrl}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "bench", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "m", max_tokens: 8_000, stream: true, tools: [TOOL], messages }),
  });
  if (!response.ok) throw new Error(`bare loop: ${response.status} ${await response.text()}`);
  const call: Call = { id: "", name: "", input: "" };
  for (const line of (await response.text()).split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const event = JSON.parse(line.slice(6));
    if (event.content_block?.type === "tool_use") {
      call.id = event.content_block.id;
      call.name = event.content_block.name;
    } else if (event.delta?.type === "input_json_delta") call.input += event.delta.partial_json;
  }
  return call.id === "" ? undefined : call;
}

function run(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["--noprofile", "--norc", "-c", command], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const out: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => out.push(chunk));
    child.on("error", reject);
    child.on("close", (code) =>
      resolve(`${Buffer.concat(out).toString()}${code === 0 ? "" : `\nExit code ${code}`}` || "(no output)"),
    );
  });
}

if (import.meta.main) {
  const [, , baseUrl, calls] = process.argv;
  if (baseUrl !== undefined) await bareLoop(baseUrl, Number(calls));
  else
    process.on("message", (asked: { baseUrl: string; calls: number }) => {
      void bareLoop(asked.baseUrl, asked.calls).then((ms) => process.send?.(ms));
    });
}
