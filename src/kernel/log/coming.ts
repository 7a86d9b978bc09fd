/**
 * What a process says and does just now, for a client that begins to follow it meanwhile: the reply that arrives, as far as it has
 * come, then the whole one while its calls are under way. What came before is in the history.
 */
import type { Detail, ProcessEvent } from "../../abi/events.ts";
import type { Pid } from "../../abi/ids.ts";
import { type BlockDelta, charsOf, type StreamEvent } from "../../abi/llm.ts";
import { LIMITS } from "../limits.ts";

type Of<E extends ProcessEvent["event"]> = Extract<ProcessEvent, { event: E }>;

/** A block of the reply that arrives: its begin, what came since, its end. */
interface Part {
  readonly begin: StreamEvent;
  readonly deltas: BlockDelta[];
  end: StreamEvent | undefined;
}

export class Coming {
  #begin: Of<"delta"> | undefined;
  #parts = new Map<number, Part>();
  #chars = 0;
  #whole: Of<"message"> | undefined;
  /** Calls of the reply that are over. */
  #calls: Of<"call">[] = [];

  /** The id of the reply that arrives. */
  get replyId(): string | undefined {
    const piece = this.#begin?.piece;
    return piece?.type === "message_start" ? piece.message.id : undefined;
  }

  take(event: Of<"delta" | "message" | "call">): void {
    if (event.event === "call") this.#called(event);
    else if (event.event === "delta") this.#piece(event);
    else {
      this.#nothingComes();
      this.#whole = event;
    }
  }

  /** All of it is in the history, or never will be. */
  clear(): void {
    this.#nothingComes();
    this.#whole = undefined;
    this.#calls = [];
  }

  /** As events, for a client that follows so closely. */
  events(detail: Detail | undefined): readonly ProcessEvent[] {
    if (detail === undefined) return [];
    const pieces = detail === "deltas" && this.#begin !== undefined ? this.#pieces(this.#begin) : [];
    const said = [...pieces, ...(this.#whole === undefined ? [] : [this.#whole])];
    return said.length === 0 ? [] : [...said, ...this.#calls];
  }

  #called(event: Of<"call">): void {
    if (this.#calls.length < LIMITS.watchEvents) this.#calls.push(event);
  }

  #piece(event: Of<"delta">): void {
    const { piece } = event;
    if (piece.type === "message_start") {
      this.clear();
      this.#begin = event;
    } else if (this.#begin === undefined) return;
    else if (piece.type === "content_block_start")
      this.#parts.set(piece.index, { begin: piece, deltas: [], end: undefined });
    else if (piece.type === "content_block_delta") this.#grows(piece.index, piece.delta);
    else if (piece.type === "content_block_stop") {
      const part = this.#parts.get(piece.index);
      if (part !== undefined) part.end = piece;
    }
  }

  #grows(index: number, delta: BlockDelta): void {
    this.#chars += charsOf(delta);
    if (this.#chars > LIMITS.comingChars) this.#nothingComes();
    else this.#parts.get(index)?.deltas.push(delta);
  }

  #nothingComes(): void {
    this.#begin = undefined;
    this.#parts = new Map();
    this.#chars = 0;
  }

  #pieces({ pid, ...begin }: Of<"delta">): readonly ProcessEvent[] {
    const blocks = [...this.#parts].flatMap(([index, { begin: first, deltas, end }]) => {
      const grown = joinedDeltas(deltas).map(
        (delta): StreamEvent => ({ type: "content_block_delta", index, delta }),
      );
      return [first, ...grown, ...(end === undefined ? [] : [end])];
    });
    return [{ ...begin, pid }, ...blocks.map((piece) => toldOf(pid, piece))];
  }
}

function toldOf(pid: Pid, piece: StreamEvent): ProcessEvent {
  return { event: "delta", pid, piece };
}

/** One of each kind, in the order of their first ones. */
function joinedDeltas(deltas: readonly BlockDelta[]): readonly BlockDelta[] {
  return [...Map.groupBy(deltas, ({ type }) => type).values()].map((alike) =>
    alike.slice(1).reduce((whole, next) => joinedDelta(whole, next) ?? next, alike[0] as BlockDelta),
  );
}

/** Two neighbouring pieces of one kind; undefined: they are not. */
export function joinedDelta(a: BlockDelta, b: BlockDelta): BlockDelta | undefined {
  if (a.type === "text_delta" && b.type === "text_delta") return { ...b, text: a.text + b.text };
  if (a.type === "thinking_delta" && b.type === "thinking_delta")
    return { ...b, thinking: a.thinking + b.thinking };
  if (a.type === "input_json_delta" && b.type === "input_json_delta")
    return { ...b, partial_json: a.partial_json + b.partial_json };
  return undefined;
}
