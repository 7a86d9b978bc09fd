import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asPid, asProcUuid } from "../../src/abi/ids.ts";
import { systemClock } from "../../src/lib/time/system-clock.ts";
import { driverContract, type RigReply } from "../../src/llm/contract.ts";
import { Places, ScriptDriver } from "../../src/llm/script/script.ts";
import { TEXT_STOPS } from "./rig.ts";

driverContract({
  name: "script",
  stops: TEXT_STOPS,
  errors: [
    { kind: "overloaded", status: 529 },
    { kind: "rate_limit", status: 429, retryAfterS: 7 },
    { kind: "auth", status: 401 },
  ],
  can: { thinking: true, retryAfter: true, interleave: false },
  serve: async (replies) => {
    const folder = await mkdtemp(join(tmpdir(), "crux-script-"));
    const file = join(folder, "contract.yaml");
    await writeFile(file, JSON.stringify({ scenario: "contract", turns: replies.map(toTurn) }));
    const process = new AbortController();
    const caller = { pid: asPid(1), uuid: asProcUuid("u"), cwd: folder, env: {}, signal: process.signal };
    const places = new Places();
    return {
      driver: new ScriptDriver(caller, file, places, systemClock),
      quiet: async () => {},
      close: async () => {
        process.abort();
        if (places.size > 0) throw new Error("a place was left behind");
        await rm(folder, { recursive: true });
      },
    };
  },
});

/** A scenario's entry has one text, so what the fault keeps from being reached is left out. */
function toTurn({ blocks, stop, usage, split, ending, error }: RigReply): object {
  const text = blocks.find((block) => block.type === "text")?.text;
  const think = blocks.find((block) => block.type === "thinking")?.thinking;
  const calls = blocks.filter((block) => block.type === "tool_use");
  const isBroken = calls.some(({ json }) => json !== "" && !json.endsWith("}"));
  const fault =
    error !== undefined
      ? { kind: error.kind, retryAfterMs: (error.retryAfterS ?? 0) * 1000 }
      : ending !== undefined
        ? { kind: ending.do, at: `block:${ending.afterBlocks}` }
        : isBroken
          ? { kind: "bad_json" }
          : undefined;
  return {
    say: text,
    think,
    call: calls.map(({ name, json }) => ({
      tool: name,
      args: isBroken || json === "" ? {} : JSON.parse(json),
    })),
    stop,
    fault,
    ...(split !== undefined && { pace: { chunk: split } }),
    ...(usage !== undefined && {
      usage: {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_input_tokens: usage.cacheRead ?? 0,
      },
    }),
  };
}
