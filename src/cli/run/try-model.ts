/** One small call to a model, to see whether it answers. */
import type { SpawnRequest } from "../../abi/methods/process.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import type { Host } from "../host/host.ts";

const TEST_CALL_MS = 30_000;
const TEST_INTENT = "Answer with the one word: ok";

type ModelAnswer =
  | { readonly kind: "answered"; readonly tokens: number }
  /** The built-in interpreter refused the question. */
  | { readonly kind: "no_model" }
  | { readonly kind: "failed"; readonly why: string };

/** A run of one step that may change nothing: it takes the same path as every run. */
export async function tryModel(
  { daemon, cwd }: Pick<Host, "daemon" | "cwd">,
  wish: Pick<SpawnRequest, "env" | "model">,
): Promise<ModelAnswer> {
  const client = await daemon.ensure();
  const request: SpawnRequest = {
    intent: TEST_INTENT,
    agent: "none",
    cwd,
    ...wish,
    max_steps: 1,
    permission_mode: "plan",
    timeout_ms: TEST_CALL_MS,
    // without it, no event reports that the interpreter answers
    verbose: true,
  };
  const stream = await client.stream("spawn", request);
  let why = "it did not answer";
  let isInterpreter = false;
  try {
    for await (const { payload } of stream.lines) {
      const event = payload as WireEvent;
      if (event.event === "spawn") isInterpreter = event.notice !== undefined;
      if (event.event === "error") why = event.error_message;
      if (event.event !== "complete") continue;
      if (isInterpreter || event.exit_code !== 0) break;
      return { kind: "answered", tokens: event.tokens_used };
    }
  } finally {
    stream.close();
  }
  return isInterpreter ? { kind: "no_model" } : { kind: "failed", why };
}
