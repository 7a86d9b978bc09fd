import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askAnthropic, askOpenai } from "./raw-client.ts";
import { parseScriptFile } from "./script-file.ts";
import { startModelServer } from "./server.ts";

const program = join(import.meta.dirname, "main.ts");

describe("main", () => {
  it("prints its base URLs, answers by the script file and ends on SIGTERM", async () => {
    const folder = await mkdtemp(join(tmpdir(), "model-server-"));
    try {
      const script = join(folder, "script.json");
      await writeFile(script, JSON.stringify([{ text: "from the file" }]));
      const child = spawn(process.execPath, [program, "--port", "0", "--script", script], { stdio: "pipe" });
      const exited = once(child, "exit");
      const [first] = await once(child.stdout, "data");
      const [, url] = /^anthropic (http:\/\/127\.0\.0\.1:\d+)\nopenai \1\/v1\n$/.exec(String(first))!;
      expect((await askAnthropic({ url: url! })).text).toContain("from the file");
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("says what is wrong with its arguments and fails", async () => {
    const child = spawn(process.execPath, [program, "--port", "x"], { stdio: ["ignore", "ignore", "pipe"] });
    const exited = once(child, "exit");
    const [first] = await once(child.stderr, "data");
    expect(String(first)).toMatch(/^not a port: x\nusage: /);
    expect(await exited).toEqual([1, null]);
  });
});

describe("parseScriptFile()", () => {
  it("reads content, matches, errors and faults", async () => {
    const file = parseScriptFile(
      JSON.stringify({
        helperDefault: "title",
        replies: [
          { when: { lastUserText: "nobody says this" }, text: "never", times: 1 },
          { blocks: [{ text: "a" }, { toolUse: { name: "ls", input: { p: 1 }, id: "t1" } }, { text: "b" }] },
          { error: { status: 429, message: "slow", headers: { "retry-after": "2" } } },
          { text: "gone", cut: { afterEvents: 2 } },
          {
            default: true,
            text: "end",
            usage: { input: 1, output: 2 },
            stopReason: "max_tokens",
            splitEvery: 9,
          },
        ],
      }),
    );
    await using server = await startModelServer(file);
    const tools = [{ name: "ls", input_schema: { type: "object" } }];
    const fn = [{ type: "function", function: { name: "ls" } }];
    expect((await askAnthropic(server)).text).toContain("title");
    const blocks = JSON.parse((await askAnthropic(server, { tools, stream: false })).text).content;
    expect(blocks.map((block: { type: string }) => block.type)).toEqual(["text", "tool_use", "text"]);
    const slow = await askOpenai(server, { tools: fn });
    expect([slow.status, slow.headers["retry-after"], JSON.parse(slow.text).error.message]).toEqual([
      429,
      "2",
      "slow",
    ]);
    expect((await askAnthropic(server, { tools })).isComplete).toBe(false);
    const end = JSON.parse((await askAnthropic(server, { tools, stream: false })).text);
    expect(end).toMatchObject({ stop_reason: "max_tokens", usage: { input_tokens: 1, output_tokens: 2 } });
  });

  it.each([
    ["{}", /list of entries/],
    ['[{"txt": "a"}]', /entry 0: unknown keys: txt/],
    ['[{"text": "a"}, {}]', /entry 1: neither content nor an error/],
    ['[{"when": {"user": "a"}, "text": "a"}]', /unknown keys in `when`: user/],
    ['[{"when": {"model": 3}, "text": "a"}]', /`when.model` is not a string/],
  ])("refuses %s", (source, message) => {
    expect(() => parseScriptFile(source)).toThrow(message);
  });
});
