import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bridgeSource } from "./launch.ts";

it("bridgeSource() is a program that lists the tools, holds calls, and ends with its input", async () => {
  const folder = await mkdtemp(join(tmpdir(), "crux-bridge-"));
  try {
    const tools = [{ name: "view", description: "d", inputSchema: { type: "object" } }];
    await writeFile(join(folder, "bridge.mjs"), bridgeSource());
    await writeFile(join(folder, "tools.json"), JSON.stringify(tools));
    const child = spawn(process.execPath, [join(folder, "bridge.mjs"), join(folder, "tools.json")]);
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const send = (message: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
    send({ method: "notifications/initialized" });
    send({ id: 1, method: "tools/call", params: { name: "view" } });
    send({ id: 2, method: "tools/list" });
    send({ id: 3, method: "odd" });
    child.stdin.end();
    expect(await ended).toBe(0);
    const answers = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers).toMatchObject([
      { id: 0, result: { protocolVersion: "2025-11-25", serverInfo: { name: "crux" } } },
      { id: 2, result: { tools } },
      { id: 3, error: { code: -32601 } },
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
