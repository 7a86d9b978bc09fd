/** The baseline of a turn: fetch a streamed reply, parse it, spawn the command, append both. Nothing else. */
import { spawn } from "node:child_process";

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** Milliseconds for a conversation with `calls` shell calls and a last answer. */
export async function bareLoop(baseUrl: string, calls: number): Promise<number> {
  const began = performance.now();
  const messages: unknown[] = [{ role: "user", content: "run the shell" }];
  for (let turn = 0; turn <= calls; turn++) {
    const call = await ask(baseUrl, messages);
    if (call === undefined) break;
    const { command } = JSON.parse(call.arguments) as { command: string };
    const output = await run(command);
    const tool_calls = [
      { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } },
    ];
    messages.push(
      { role: "assistant", content: null, tool_calls },
      { role: "tool", tool_call_id: call.id, content: output },
    );
  }
  return performance.now() - began;
}

async function ask(baseUrl: string, messages: readonly unknown[]): Promise<Call | undefined> {
  const tools = [
    {
      type: "function",
      function: { name: "bash", parameters: { type: "object", properties: { command: { type: "string" } } } },
    },
  ];
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer bench" },
    body: JSON.stringify({ model: "m", stream: true, tools, messages }),
  });
  if (!response.ok) throw new Error(`bare loop: ${response.status} ${await response.text()}`);
  const call: Call = { id: "", name: "", arguments: "" };
  for (const line of (await response.text()).split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta?.tool_calls?.[0];
    if (delta === undefined) continue;
    call.id ||= delta.id ?? "";
    call.name ||= delta.function?.name ?? "";
    call.arguments += delta.function?.arguments ?? "";
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
