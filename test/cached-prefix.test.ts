/** Vendors whose prompt cache works by itself: each request begins with the bytes of the one before it. */
import { expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { DialectName } from "./model-server/request.ts";
import { startModelServer } from "./model-server/server.ts";

const TURNS = 100;

it.each<DialectName>(["openai", "responses", "gemini"])(
  "of 100 turns with %s, at least 95 of 100 input tokens are read from the cache",
  async (dialect) => {
    const world = new World();
    const server = await startModelServer({
      script: ({ assistantTurns: n }) =>
        n < TURNS - 1
          ? toolUse({ name: "view", input: { file_path: "a.txt", offset: (n % 5) + 1 } })
          : text("Done."),
      promptCache: { minTokens: 512 },
    });
    try {
      world.write("a.txt", "a line of the file\n".repeat(5));
      const env = modelEnv(server, dialect);
      const { code, stderr } = await world.crux(["-q", "--max-steps", "120", "look at the file"], { env });
      expect([code, server.requestCount], stderr).toEqual([0, TURNS]);
      const used = server.requests.map(({ cache }) => cache ?? { read: 0, input: 0 });
      const read = used.reduce((sum, each) => sum + each.read, 0);
      const whole = used.reduce((sum, each) => sum + each.read + each.input, 0);
      expect(read / whole).toBeGreaterThan(0.95);
      expect(used.slice(1).every((each) => each.read > 0)).toBe(true);
    } finally {
      await world.close();
      await server.close();
    }
  },
);
