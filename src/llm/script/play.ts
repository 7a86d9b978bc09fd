/** Plays one entry of a scenario as a stream: blocks, pace and requested faults. */
import type { Block, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { Clock } from "../../abi/program.ts";
import { emptied } from "../blocks.ts";
import type { AttemptRequest } from "../driver.ts";
import { estimateInput } from "../estimate.ts";
import { deltasOf } from "../whole-blocks.ts";
import type { Cue } from "./cursor.ts";
import type { Fault, Turn } from "./scenario.ts";
import { render, renderAll, type Variables } from "./template.ts";

interface PlayContext {
  readonly request: AttemptRequest;
  readonly model: string;
  readonly variables: Variables;
  /** The name of the attempt within its process; the ids of messages and calls are made from it. */
  readonly name: string;
  readonly clock: Clock;
}

export async function* play(cue: Cue, stage: PlayContext, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const { turn, fault } = cue;
  const events = eventsOf(turn, fault, stage);
  const breaks = fault === undefined ? undefined : breakPoint(fault, events);
  for (const [at, event] of events.entries()) {
    if (fault !== undefined && at === breaks) yield* strike(fault, stage, signal);
    if (turn.pace.delayMs > 0 && event.type === "content_block_delta")
      await stage.clock.sleep(turn.pace.delayMs, signal);
    signal.throwIfAborted();
    yield event;
  }
}

/** The number of events before the fault; undefined: the fault changes the events themselves. */
function breakPoint(fault: Fault, events: readonly StreamEvent[]): number | undefined {
  if (["duplicate_text", "bad_json", "empty"].includes(fault.kind)) return undefined;
  if (fault.at === "start") return 0;
  if (fault.at === "mid") return Math.max(1, Math.floor(events.length / 2));
  const blocks = Number(fault.at.slice("block:".length));
  const ends = [...events.keys()].filter((at) => events[at]?.type === "content_block_stop");
  return blocks === 0 ? 1 : (ends[blocks - 1] ?? events.length - 2) + 1;
}

async function* strike(fault: Fault, stage: PlayContext, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const { kind, ms, retryAfterMs } = fault;
  const device = "/dev/llm/script";
  if (kind === "stall") {
    if (ms !== undefined) return stage.clock.sleep(ms, signal);
    await new Promise((_resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
  if (
    kind === "cut" ||
    kind === "stall" ||
    kind === "duplicate_text" ||
    kind === "bad_json" ||
    kind === "empty"
  )
    throw new LlmError({ kind: "stream_malformed", device, message: "the scenario cut the reply off" });
  throw new LlmError({ kind, device, message: `the scenario asks for ${kind}`, retryAfterMs });
}

function eventsOf(turn: Turn, fault: Fault | undefined, stage: PlayContext): StreamEvent[] {
  const blocks = fault?.kind === "empty" ? [] : blocksOf(turn, stage);
  const usage = usageOf(turn, blocks, stage.request);
  const hasCalls = blocks.some(({ type }) => type === "tool_use");
  return [
    {
      type: "message_start",
      message: { id: `msg_${stage.name}`, model: stage.model, usage: { ...usage, output_tokens: 0 } },
    },
    ...blocks.flatMap((block, index) => [...blockEvents([index, block], turn.pace.chunk, fault)]),
    {
      type: "message_delta",
      delta: { stop_reason: turn.stop ?? (hasCalls ? "tool_use" : "end_turn") },
      usage,
    },
    { type: "message_stop" },
  ];
}

function blocksOf(turn: Turn, { variables, name }: PlayContext): Block[] {
  const { think, say, call } = turn;
  return [
    ...(think === undefined
      ? []
      : [{ type: "thinking", thinking: render(think, variables), signature: `script-${name}` } as const]),
    ...(say === undefined ? [] : [{ type: "text", text: render(say, variables) } as const]),
    ...call.map(({ tool, args }, at) => {
      const input = renderAll(args, variables);
      return { type: "tool_use", id: `call_${name}_${at + 1}`, name: tool, input } as const;
    }),
  ];
}

function* blockEvents(
  [index, block]: readonly [number, Block],
  chunk: number,
  fault: Fault | undefined,
): Generator<StreamEvent> {
  const isDoubled = fault?.kind === "duplicate_text" && block.type === "text";
  yield { type: "content_block_start", index, content_block: isDoubled ? block : emptied(block) };
  const broken = (): string => '{"broken": ';
  for (const delta of deltasOf(block, chunk, fault?.kind === "bad_json" ? broken : undefined))
    yield { type: "content_block_delta", index, delta };
  yield { type: "content_block_stop", index };
}

/** The usage from the entry; missing values are estimated, so that budgets have numbers to count. */
function usageOf(turn: Turn, blocks: readonly Block[], request: AttemptRequest): Usage {
  const { usage } = turn;
  const chars = JSON.stringify(blocks).length;
  return {
    input_tokens: usage?.input_tokens ?? estimateInput(request),
    output_tokens: usage?.output_tokens ?? Math.ceil(chars / 4),
    cache_creation_input_tokens: usage?.cache_creation_input_tokens ?? 0,
    cache_read_input_tokens: usage?.cache_read_input_tokens ?? 0,
  };
}
