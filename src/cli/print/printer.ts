/**
 * The lines of print mode, from the events of a session: pure but for the uuids of the lines. Each run of the session
 * ends with one result.
 */
import type { WireError } from "../../abi/errors.ts";
import type { StreamEvent } from "../../abi/llm.ts";
import type { InitLine, ResultLine, SessionLine } from "../../abi/print/print.ts";
import type {
  ApiRetryEvent,
  CompleteEvent,
  ContextMovedEvent,
  IdleEvent,
  MessageEvent,
  ToolResultEvent,
  WireEvent,
} from "../../abi/wire-events.ts";
import { switchWords } from "../../lib/text/model-words.ts";
import { type Ending, endingOf, failedEnding } from "./ending.ts";
import { type ModelSpent, Tally } from "./tally.ts";
import type { Said } from "./user-line.ts";

/** What is known when a session has begun. */
export type InitFacts = Omit<InitLine, "type" | "subtype" | keyof Common>;
type Common = Pick<SessionLine, "uuid" | "session_id" | "parent_tool_use_id">;

/** Of the run that has ended. */
export interface RunFacts {
  readonly durationMs: number;
  /** US dollars: of the run, and of the whole command. */
  readonly usd: number;
  readonly totalUsd: number;
  /** Of the run, by model, where that is more than its replies were told to have used. */
  readonly byModel?: ReadonlyMap<string, ModelSpent>;
  /** The window of the model that answered last, in tokens; absent: not known. */
  readonly window?: number;
  /** With --json-schema: the value that matches. */
  readonly structured?: ResultLine["structured_output"];
}

export interface Ended {
  readonly line: ResultLine;
  readonly exitCode: number;
}

export class Printer {
  /** The uuid of the session; "": none was started. */
  sessionId = "";
  readonly #newUuid: () => string;
  #tally = new Tally();
  #error: WireError | undefined;
  /** The last one of the run. */
  #warning: string | undefined;
  /** The reply of which pieces were printed, until it is there as a whole. */
  #previewed: string | undefined;

  constructor(newUuid: () => string) {
    this.#newUuid = newUuid;
  }

  init(facts: InitFacts): SessionLine {
    return { type: "system", subtype: "init", ...this.#common(), ...facts };
  }

  notice(level: "info" | "warn" | "error", message: string, about: { line?: number; code?: string } = {}) {
    const { line, code } = about;
    return {
      type: "system",
      subtype: "notice",
      ...this.#common(),
      level,
      message,
      ...(code === undefined ? {} : { code }),
      ...(line === undefined ? {} : { line }),
    } satisfies SessionLine;
  }

  /** A message of stdin that the session has read. */
  replayed({ text, media = [], uuid }: Said): SessionLine {
    const texts = text === "" ? [] : [{ type: "text", text }];
    const pictures = media.map(({ media_type, data }) => ({
      type: "image",
      source: { type: "base64", media_type, data },
    }));
    const content = media.length === 0 ? text : [...texts, ...pictures];
    const line = { type: "user", message: { role: "user", content }, ...this.#common() } as const;
    return { ...line, ...(uuid === undefined ? {} : { uuid }), isReplay: true };
  }

  /** The lines of an event; the end of a run is not among them. */
  take(event: WireEvent): SessionLine[] {
    switch (event.event) {
      case "message":
        this.#previewed = undefined;
        return this.#message(event);
      case "tool_result":
        return [this.#toolResult(event)];
      case "delta":
        return this.#piece(event.piece);
      case "tombstone":
        return this.dropped();
      case "api_retry":
        return [this.#retry(event)];
      case "model_switch":
        return [this.notice("warn", switchWords(event))];
      case "context.moved":
        return [this.#boundary(event)];
      case "spawn":
        return event.notice === undefined ? [] : [this.notice("warn", event.notice)];
      case "log":
        if (event.level === "info") return [];
        this.#warning = event.message;
        return [this.notice(levelOf(event.level), event.message)];
      case "error":
        this.#error = event.error ?? { code: "INTERNAL", message: event.error_message };
        return [];
      default:
        return [];
    }
  }

  /** The last text so far. */
  get text(): string {
    return this.#tally.text;
  }

  /** The model that has answered in this run, and what its replies have used; undefined: there are several. */
  get only(): Tally["only"] {
    return this.#tally.only;
  }

  /** The id of the first call with these arguments that has no result; undefined: it is not known. */
  findCall(tool: string, input: object): string | undefined {
    return this.#tally.findCall(tool, input);
  }

  /** The one result of a run that ended. The next event belongs to another run. */
  end(event: CompleteEvent | IdleEvent, facts: RunFacts): Ended {
    const ending = endingOf(event, {
      isCalling: this.#tally.isCalling,
      error: this.#error,
      warning: this.#warning,
    });
    return this.#ended(ending, { ...facts, result: event.result, refused: event.denied ?? [] });
  }

  /** The one result of a run that broke off, or was refused; `error`: why. */
  failed(error: WireError, facts: RunFacts): Ended {
    return this.#ended(failedEnding(error), { ...facts, result: this.text, refused: [] });
  }

  /** As above, for a reason of the command itself. */
  stopped(ending: Ending, facts: RunFacts): Ended {
    return this.#ended(ending, { ...facts, result: this.text, refused: [] });
  }

  #ended(
    { subtype, terminalReason, errors, hint, exitCode }: Ending,
    more: RunFacts & { result: string; refused: NonNullable<CompleteEvent["denied"]> },
  ): Ended {
    const { durationMs, totalUsd, result, refused, structured } = more;
    const tally = this.#tally;
    this.#tally = new Tally();
    this.#error = undefined;
    this.#warning = undefined;
    const line: ResultLine = {
      type: "result",
      subtype,
      is_error: subtype !== "success",
      terminal_reason: terminalReason,
      stop_reason: tally.stopReason,
      result,
      ...(structured === undefined ? {} : { structured_output: structured }),
      ...(errors.length === 0 ? {} : { errors: [...errors] }),
      ...(hint === undefined ? {} : { hint }),
      num_turns: tally.turns,
      duration_ms: Math.round(durationMs),
      duration_api_ms: Math.round(tally.apiMs),
      total_cost_usd: totalUsd,
      ...tally.spent(more),
      permission_denials: tally.denials(refused),
      ...this.#common(),
    };
    return { line, exitCode };
  }

  #retry({ attempt, max_retries, delay_ms, error_kind, status }: ApiRetryEvent): SessionLine {
    const why = { error_status: status ?? null, error: error_kind };
    const times = { attempt, max_retries, retry_delay_ms: Math.round(delay_ms) };
    return { type: "system", subtype: "api_retry", ...this.#common(), ...times, ...why };
  }

  #boundary({ layer, trigger: by, before, after }: ContextMovedEvent): SessionLine {
    const trigger = by === "manual" ? by : "auto";
    return {
      type: "system",
      subtype: layer === "micro" ? "microcompact_boundary" : "compact_boundary",
      ...this.#common(),
      compactMetadata: { compactType: trigger, preCompactTokenCount: before, postCompactTokenCount: after },
      compact_metadata: { trigger, pre_tokens: before },
    };
  }

  #piece(piece: StreamEvent): SessionLine[] {
    if (piece.type === "message_start") this.#previewed = piece.message.id;
    return [{ type: "stream_event", event: published(piece), ...this.#common() }];
  }

  /** What is told when the reply that was previewed does not come, also because the daemon has gone. */
  dropped(): SessionLine[] {
    const message_id = this.#previewed;
    this.#previewed = undefined;
    if (message_id === undefined) return [];
    return [{ type: "system", subtype: "tombstone", ...this.#common(), message_id }];
  }

  #message(event: MessageEvent): SessionLine[] {
    this.#tally.message(event);
    const { id, model, content, usage } = event;
    return content.map((block) => ({
      type: "assistant",
      message: {
        id,
        type: "message",
        role: "assistant",
        model,
        content: [block],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
      ...this.#common(),
    }));
  }

  #toolResult(event: ToolResultEvent): SessionLine {
    this.#tally.toolResult(event);
    const { tool_use_id, content, is_error } = event;
    const block = {
      type: "tool_result" as const,
      tool_use_id,
      content,
      ...(is_error === true ? { is_error } : {}),
    };
    return { type: "user", message: { role: "user", content: [block] }, ...this.#common() };
  }

  #common(): Common {
    return { uuid: this.#newUuid(), session_id: this.sessionId, parent_tool_use_id: null };
  }
}

function levelOf(level: string): "warn" | "error" {
  return level === "error" ? "error" : "warn";
}

/** The event with the keys that clients of the published stream expect beside ours. */
function published(piece: StreamEvent): { type: string } {
  if (piece.type === "message_start") {
    const { id, model, usage } = piece.message;
    const empty = { content: [], stop_reason: null, stop_sequence: null };
    return { ...piece, message: { id, type: "message", role: "assistant", model, ...empty, usage } } as never;
  }
  if (piece.type === "message_delta")
    return { ...piece, delta: { ...piece.delta, stop_sequence: null } } as never;
  return piece;
}
