/** A conversation of 100 turns over each wire whose vendor caches: what the protocol server reads of it from its cache. */
import { expect, it, onTestFinished } from "vitest";
import type { WireMessage } from "../../src/abi/llm.ts";
import { bedrockDriver } from "../../src/llm/bedrock/bedrock.ts";
import { contractRequest } from "../../src/llm/contract.ts";
import type { Driver } from "../../src/llm/driver.ts";
import { fold } from "../../src/llm/fold.ts";
import { vertexDriver } from "../../src/llm/vertex/vertex.ts";
import { vllmDriver } from "../../src/llm/vllm/vllm.ts";
import { xaiDriver } from "../../src/llm/xai/xai.ts";
import { AWS_KEYS } from "../model-server/bedrock/request.ts";
import { text } from "../model-server/reply.ts";
import type { ModelServer } from "../model-server/server.ts";
import { place } from "./google.ts";
import { serve } from "./rig.ts";

const TURNS = 100;
const RULES = "Do what was asked, all of it, and no more. ".repeat(80);

/** The n-th request: what was said, and n turns with a call and its result each. */
function conversation(n: number): WireMessage[] {
  const turns = Array.from({ length: n }, (_, i): WireMessage[] => {
    const id = `call_${i}`;
    const content = `line ${i}\n`.repeat(5);
    return [
      { role: "assistant", content: [{ type: "tool_use", id, name: "view", input: { path: `${i}.txt` } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
    ];
  });
  return [{ role: "user", content: [{ type: "text", text: "Go on." }] }, ...turns.flat()];
}

async function vertex(server: ModelServer): Promise<Driver> {
  const { env, leave } = await place();
  onTestFinished(leave);
  return vertexDriver(env(server));
}

it.each<[name: string, model: string, connect: (server: ModelServer) => Driver | Promise<Driver>]>([
  [
    "bedrock",
    "sonnet",
    ({ url }) => bedrockDriver({ ...AWS_KEYS, AWS_REGION: "eu-west-1", ANTHROPIC_BEDROCK_BASE_URL: url }),
  ],
  ["vertex, with Claude", "claude-sonnet-5-5", vertex],
  ["vertex, with Gemini", "gemini-4-hydrogen", vertex],
  ["xai", "", ({ openaiBaseUrl }) => xaiDriver({ XAI_API_KEY: "k", XAI_BASE_URL: openaiBaseUrl })],
  ["vllm", "", ({ openaiBaseUrl }) => vllmDriver({ VLLM_BASE_URL: openaiBaseUrl, VLLM_MODEL: "test-model" })],
])(
  "of 100 turns over %s, at least 95 of 100 input tokens are read from the cache",
  async (_name, model, connect) => {
    const server = await serve({ script: text("Hi."), promptCache: { minTokens: 512 } });
    const driver = await connect(server);
    const system = [{ text: RULES, zone: "static" as const }];
    for (let n = 0; n < TURNS; n++) {
      const request = contractRequest({ requestId: `r${n}`, model, system, messages: conversation(n) });
      await fold(driver.stream(request, new AbortController().signal));
    }
    expect(server.requestCount).toBe(TURNS);
    const used = server.requests.map(({ cache }) => cache ?? { read: 0, write: 0, input: 0 });
    const sum = (of: (use: (typeof used)[number]) => number): number =>
      used.reduce((all, use) => all + of(use), 0);
    expect(sum(({ read }) => read) / sum(({ read, write, input }) => read + write + input)).toBeGreaterThan(
      0.95,
    );
    expect(used.slice(1).every(({ read }) => read > 0)).toBe(true);
  },
);
