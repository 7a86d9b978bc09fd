/**
 * What a process says and does just now, for a client that begins to follow it meanwhile: the reply that arrives, as far as it has
 * come, then the whole one while its calls are under way. What came before is in the history.
 */
import type { Detail, ProcessEvent } from "../../abi/events.ts";
import type { Pid } from "../../abi/ids.ts";
import { type BlockDelta, charsOf, type StreamEvent } from "../../abi/llm.ts";
import { LIMITS } from "../limits.ts";

type Of<E extends ProcessEvent["event"]> = Extract<ProcessEvent, { event: E }>;

/** Pieces that are joined once they are so many: a server may send one for each character, which takes twenty times its text. */
const LOOSE = 64;

/** A block of the reply that arrives: its begin, what came since, its end. */
interface Part {
  readonly begin: StreamEvent;
  readonly deltas: BlockDelta[];
  /** So many of the deltas are joined ones. */
  joined: number;
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
    const hasReply = this.#begin !== undefined || this.#whole !== undefined;
    if (hasReply && this.#calls.length < LIMITS.watchEvents) this.#calls.push(event);
  }

  #piece(event: Of<"delta">): void {
    const { piece } = event;
    if (piece.type === "message_start") {
      this.clear();
      this.#begin = event;
    } else if (this.#begin === undefined) return;
    else if (piece.type === "content_block_start")
      this.#parts.set(piece.index, { begin: piece, deltas: [], joined: 0, end: undefined });
    else if (piece.type === "content_block_delta") this.#grows(piece.index, piece.delta);
    else if (piece.type === "content_block_stop") {
      const part = this.#parts.get(piece.index);
      if (part !== undefined) part.end = piece;
    }
  }

  #grows(index: number, delta: BlockDelta): void {
    this.#chars += charsOf(delta);
    if (this.#chars > LIMITS.comingChars) this.#nothingComes();
    const part = this.#parts.get(index);
    if (part === undefined) return;
    part.deltas.push(delta);
    if (part.deltas.length - part.joined < LOOSE) return;
    part.deltas.push(...joinedDeltas(part.deltas.splice(part.joined)));
    part.joined = part.deltas.length;
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
  return [...Map.groupBy(deltas, ({ type }) => type).values()].map((alike) => {
    const last = alike.at(-1) as BlockDelta;
    // joined, a text holds none of its pieces
    return last.type === "signature_delta" ? last : withText(last, alike.map(textOf).join(""));
  });
}

/** Two neighbouring pieces of one kind; undefined: they are not. */
export function joinedDelta(a: BlockDelta, b: BlockDelta): BlockDelta | undefined {
  return a.type === b.type && a.type !== "signature_delta" ? withText(b, textOf(a) + textOf(b)) : undefined;
}

function textOf(delta: BlockDelta): string {
  if (delta.type === "text_delta") return delta.text;
  if (delta.type === "thinking_delta") return delta.thinking;
  return delta.type === "input_json_delta" ? delta.partial_json : delta.signature;
}

function withText(delta: BlockDelta, text: string): BlockDelta {
  if (delta.type === "text_delta") return { ...delta, text };
  if (delta.type === "thinking_delta") return { ...delta, thinking: text };
  return delta.type === "input_json_delta" ? { ...delta, partial_json: text } : delta;
}
