/** One question of a tool to the caller's own model: charged to the caller, never part of its conversation. */
import { O_RDWR } from "../abi/device.ts";
import type { Effect } from "../abi/effects.ts";
import type { ShortReply } from "../abi/llm.ts";
import { failure } from "./failure.ts";
import { readToEnd, withFile } from "./files.ts";
import type { RunContext, Scope } from "./tool.ts";

const MAX_REPLY_BYTES = 1024 * 1024;
const TIMEOUT_MS = 60_000;

export function modelEffect({ modelDevice }: Scope, maxTokens: number): Effect {
  return { kind: "llm", device: modelDevice, maxTokens };
}

export interface Question {
  readonly system: string;
  readonly text: string;
}

/** UNAVAILABLE: the caller has no model. */
export async function askModel(context: RunContext, { system, text }: Question): Promise<string> {
  const { modelDevice, modelName } = context;
  if (modelDevice === "") throw failure("UNAVAILABLE", "this process has no model to ask");
  const request = {
    intent: text,
    system_prompt: system,
    model: modelName,
    max_turns: 1,
    timeout_ms: TIMEOUT_MS,
  };
  return withFile(context, modelDevice, O_RDWR, async (fd) => {
    await context.sys.write(fd, Buffer.from(JSON.stringify(request)), context.signal);
    const bytes = await readToEnd(context, fd, MAX_REPLY_BYTES);
    return (JSON.parse(bytes.toString("utf8")) as ShortReply).content;
  });
}
