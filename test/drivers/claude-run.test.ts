/** The booted system with the real `claude` program as its model, on loopback. */
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { World } from "../harness/world.ts";
import { text, toolUse } from "../model-server/reply.ts";
import { startModelServer } from "../model-server/server.ts";

const program = process.env.CRUX_TEST_CLAUDE ?? "";

test.skipIf(program === "")(
  "an intent views, edits and runs a command; the tools are ours, through the gate",
  async () => {
    await using server = await startModelServer({
      script: [
        toolUse({ name: "mcp__crux__view", input: { file_path: "a.txt" } }, { text: "Looking." }),
        toolUse([
          { name: "mcp__crux__edit", input: { file_path: "a.txt", old_string: "two", new_string: "2" } },
          { name: "mcp__crux__bash", input: { command: "cat a.txt" } },
        ]),
        text("Changed it."),
      ],
      helperDefault: true,
    });
    const world = new World({
      PATH: `${dirname(program)}:/usr/local/bin:/usr/bin:/bin`,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "test",
    });
    try {
      world.write("a.txt", "one\ntwo\n");
      const args = ["--model", "claude/sonnet", "--permission-mode", "bypass", "--json", "change it"];
      const { code, stdout } = await world.crux(args);
      expect([code, JSON.parse(stdout).data.result]).toEqual([0, "Changed it."]);
      expect(world.file("a.txt")).toBe("one\n2\n");
      const { messages } = server.requests.at(-1)!.body as { messages: object[] };
      const results = messages.filter((each) => JSON.stringify(each).includes("tool_result"));
      expect(JSON.stringify(results.at(-1))).toContain(String.raw`one\n2`);
      // one child for the process, and no request beside those of the loop
      expect(server.requests.map(({ assistantTurns }) => assistantTurns)).toEqual([0, 1, 2]);
    } finally {
      await world.close();
    }
  },
);
