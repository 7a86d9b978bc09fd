/**
 * Context spaces: the ordered messages of the processes. Allocated in spawn, freed in reaping. Every method is
 * synchronous, so writes to one context run one after another by construction.
 */
import type { ContextMove, PinBounds, UndoBounds, ViewState } from "../../abi/context.ts";
import { ContextError } from "../../abi/errors.ts";
import { asCtxId, type CtxId } from "../../abi/ids.ts";
import type { ContextMessage, Prompt, Role } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { LIMITS } from "../limits.ts";
import { wrongWith } from "./check-move.ts";
import { clearedMessage, renderedView } from "./cleared.ts";
import { summarise } from "./summary.ts";
import {
  foldMove,
  foldPin,
  headOf,
  type MoveBody,
  noViews,
  numbersOf,
  type PinBody,
  type Views,
} from "./view.ts";

interface Space {
  readonly cid: CtxId;
  systemPrompt: string;
  /** The view: what the model sees, and the numbers of these messages. */
  messages: ContextMessage[];
  numbers: number[];
  views: Views;
  /** Messages as they were written, where the view shows them otherwise or not at all; only a replay keeps the latter. */
  originals: Map<number, ContextMessage>;
  keepsAll: boolean;
  capacity: number;
}

/** A context as it was recorded. */
interface SpaceContents {
  readonly systemPrompt: string;
  readonly views: Views;
  /** By number: those in view; more are kept only with `keepsAll`. */
  readonly messages: ReadonlyMap<number, ContextMessage>;
  /** What leaves the view stays in memory. */
  readonly keepsAll?: boolean;
}

interface UndoPlan {
  readonly from: number;
  /** Absent: any size. */
  readonly bounds?: UndoBounds | undefined;
}

export class ContextSpaces {
  readonly #spaces = new Map<CtxId, Space>();
  #next = 1;

  get count(): number {
    return this.#spaces.size;
  }

  has(cid: CtxId): boolean {
    return this.#spaces.has(cid);
  }

  alloc(size: number): CtxId {
    const cid = asCtxId(this.#next);
    if (!Number.isInteger(size) || size <= 0)
      throw failed("CtxAlloc", cid, "INTERNAL", `size must be above 0: ${size}`);
    this.#next++;
    this.#spaces.set(cid, {
      ...{ cid, systemPrompt: "", messages: [], numbers: [], views: noViews() },
      ...{ originals: new Map(), keepsAll: false, capacity: size },
    });
    return cid;
  }

  free(cid: CtxId): void {
    if (!this.#spaces.delete(cid)) throw notFound("CtxFree", cid);
  }

  setSystemPrompt(cid: CtxId, text: string): void {
    this.#find("SetSystemPrompt", cid).systemPrompt = text;
  }

  /** Doubles the capacity as needed, up to the limit; then INTERNAL `context full`. */
  append(cid: CtxId, message: ContextMessage): void {
    const op = message.role === "tool" ? "AppendToolResult" : "AppendMessage";
    const space = this.#find(op, cid);
    checkSize(op, cid, message.content);
    checkMedia(op, cid, message);
    while (space.messages.length >= space.capacity) {
      if (space.capacity >= LIMITS.contextMessagesMax) throw full(op, space);
      space.capacity = Math.min(space.capacity * 2, LIMITS.contextMessagesMax);
    }
    add(space, message);
  }

  /** Makes an empty context a copy of another; the messages themselves are shared. */
  copy(from: CtxId, to: CtxId): void {
    const { cid: _, views, ...origin } = this.#find("CtxRead", from);
    const { messages, numbers, originals } = origin;
    const own = { ...views, puts: [...views.puts], stack: [...views.stack], pins: new Set(views.pins) };
    const copied = { messages: [...messages], numbers: [...numbers], originals: new Map(originals) };
    Object.assign(this.#find("CtxWrite", to), { ...origin, ...copied, views: own });
  }

  /** Whether both show the same messages, and have the same pins. */
  areEqual(one: CtxId, other: CtxId): boolean {
    const [a, b] = [this.#find("CtxRead", one), this.#find("CtxRead", other)];
    const isSame =
      a.messages.length === b.messages.length && a.messages.every((each, i) => each === b.messages[i]);
    return isSame && a.views.moves === b.views.moves && [...a.views.pins].join() === [...b.views.pins].join();
  }

  /** Restores a context that is empty. */
  fill(cid: CtxId, { systemPrompt, views, messages, keepsAll = false }: SpaceContents): void {
    const space = this.#find("CtxWrite", cid);
    const held = new Map(messages);
    for (const message of held.values()) checkSize("CtxWrite", cid, message.content);
    const own = {
      ...views,
      puts: [...views.puts],
      stack: [...views.stack],
      pins: new Set(views.pins),
    };
    Object.assign(space, { systemPrompt, views: own, keepsAll, originals: held });
    show(space);
    while (space.capacity < space.messages.length) space.capacity *= 2;
  }

  /** `offset` 0 appends within the capacity, 1 … N replaces the N-th message of the view. Returns the number replaced; 0: none. */
  write(cid: CtxId, offset: number, data: Uint8Array): { message: ContextMessage; replaced: number } {
    const space = this.#find("CtxWrite", cid);
    const message = parseMessage(cid, data);
    checkSize("CtxWrite", cid, message.content);
    if (!Number.isInteger(offset) || offset < 0 || offset > space.messages.length) {
      throw failed("CtxWrite", cid, "INTERNAL", `offset out of range: ${offset} of ${space.messages.length}`);
    }
    if (offset === 0) {
      if (space.messages.length >= space.capacity) throw full("CtxWrite", space);
      add(space, message);
      return { message, replaced: 0 };
    }
    const replaced = space.numbers[offset - 1] ?? 0;
    space.messages[offset - 1] = message;
    if (space.originals.has(replaced)) space.originals.set(replaced, message);
    return { message, replaced };
  }

  /** The present view, by numbers. */
  view(cid: CtxId): ViewState {
    const { views, numbers } = this.#find("CtxView", cid);
    const { moves: head, count: records, stack } = views;
    const pins = [...views.pins].sort((a, b) => a - b);
    return { head, view: headOf(views), numbers: [...numbers], records, undoable: stack.length - 1, pins };
  }

  /** The messages in view that were added since one was last left out; null: none was, or the context is freed. */
  sinceCut(cid: CtxId): readonly ContextMessage[] | null {
    const space = this.#spaces.get(cid);
    const cut = space === undefined ? undefined : headOf(space.views).cut;
    if (space === undefined || cut === undefined) return null;
    return space.messages.filter((_, i) => (space.numbers[i] ?? 0) > cut);
  }

  /** Moves the view. CONFLICT: it has moved meanwhile. INVALID: it would tear a pair. Returns the body of the record. */
  move(cid: CtxId, move: ContextMove): MoveBody {
    const space = this.#find("CtxMove", cid);
    const { from, put, ...same } = move;
    checkHead("CtxMove", space, from);
    const wrong = wrongWith(space.views, writtenOf(space), move);
    if (wrong !== undefined) throw failed("CtxMove", cid, "INVALID", wrong);
    const summary = typeof put === "string" ? ({ role: "user", content: put } as const) : put;
    const body = { ...same, ...(summary === undefined ? {} : { put: summary }) };
    this.#moved(space, body, summary ?? undefined);
    return body;
  }

  /** The numbers of the messages that the view before the present one shows and that are not in memory. NOT_FOUND: there is none. */
  missing(cid: CtxId, from: number): readonly number[] {
    const space = this.#find("CtxUndo", cid);
    checkHead("CtxUndo", space, from);
    const before = space.views.stack.at(-2);
    if (before === undefined) throw failed("CtxUndo", cid, "NOT_FOUND", "nothing to undo");
    const cleared = new Set(headOf(space.views).clears.map(({ n }) => n));
    const whole = new Set(space.numbers.filter((n) => !cleared.has(n)));
    return numbersOf(space.views, before).filter((n) => !whole.has(n) && !space.originals.has(n));
  }

  /** Goes back to the view before the present one, with the messages that `missing` named. CONFLICT: it is too large. */
  undo(cid: CtxId, { from, bounds }: UndoPlan, read: ReadonlyMap<number, ContextMessage>): MoveBody {
    const missing = this.missing(cid, from).filter((n) => !read.has(n));
    const space = this.#find("CtxUndo", cid);
    if (missing.length > 0) throw failed("CtxUndo", cid, "INTERNAL", `message ${missing[0]} was not kept`);
    const counts = bounds === undefined ? {} : this.#bounded(space, bounds, read);
    for (const [n, message] of read) space.originals.set(n, message);
    const body = { undo: true, ...counts } as const;
    this.#moved(space, body, undefined);
    return body;
  }

  /**
   * Pins a message in view: every later view keeps it, with its whole pair. NOT_FOUND: it is not in view. BUDGET: too large,
   * or too many; no pin is dropped for it. Returns the body of the record.
   */
  pin(cid: CtxId, n: number, bounds: PinBounds): PinBody {
    const space = this.#find("CtxPin", cid);
    const { views } = space;
    const written = writtenOf(space);
    if (!written.has(n)) throw failed("CtxPin", cid, "NOT_FOUND", `message ${n} is not in view`);
    if (views.puts.includes(n)) throw failed("CtxPin", cid, "INVALID", "a summary cannot be pinned");
    checkPin(cid, { views, written, n }, bounds);
    const body = { n } as const;
    foldPin(views, body);
    return body;
  }

  /** NOT_FOUND: it is not pinned. */
  unpin(cid: CtxId, n: number): PinBody {
    const { views } = this.#find("CtxUnpin", cid);
    if (!views.pins.has(n)) throw failed("CtxUnpin", cid, "NOT_FOUND", `message ${n} is not pinned`);
    const body = { n, off: true } as const;
    foldPin(views, body);
    return body;
  }

  #bounded(
    { cid, views, ...space }: Space,
    { before, beside, ratio, most }: UndoBounds,
    read: ReadonlyMap<number, ContextMessage>,
  ): { readonly before: number; readonly after: number } {
    const view = views.stack.at(-2) ?? headOf(views);
    const written = new Map([...space.originals, ...writtenOf({ cid, views, ...space }), ...read]);
    const shown = renderedView(views, view, written);
    const tokens = shown.reduce((sum, message) => sum + messageTokens(message), beside);
    const after = Math.ceil(tokens * ratio);
    if (after <= most) return { before, after };
    const words = `the view before has about ${after} tokens, and at most ${most} fit`;
    throw failed("CtxUndo", cid, "CONFLICT", words);
  }

  #moved(space: Space, body: MoveBody, summary: ContextMessage | undefined): void {
    for (const [n, message] of writtenOf(space)) if (!space.originals.has(n)) space.originals.set(n, message);
    foldMove(space.views, body);
    if (summary !== undefined) space.originals.set(space.views.count, summary);
    show(space);
  }

  /** Messages offset … offset + length - 1 as JSON, clipped; 0, 0 is all. */
  read(cid: CtxId, offset: number, length: number): Uint8Array {
    const space = this.#find("CtxRead", cid);
    if (!(offset >= 0) || !(length >= 0))
      throw failed("CtxRead", cid, "INVALID", `negative range: ${offset}, ${length}`);
    const messages =
      offset === 0 && length === 0 ? space.messages : space.messages.slice(offset, offset + length);
    return Buffer.from(JSON.stringify({ system_prompt: space.systemPrompt, messages }));
  }

  /** A snapshot; the messages themselves are shared and never changed. */
  prompt(cid: CtxId): Prompt {
    const space = this.#find("BuildPrompt", cid);
    return { systemPrompt: space.systemPrompt, messages: space.messages.slice() };
  }

  /** The text of GetContextSummary; "" once the context is freed. */
  summary(cid: CtxId): string {
    const space = this.#spaces.get(cid);
    return space === undefined ? "" : summarise(space);
  }

  #find(op: string, cid: CtxId): Space {
    const space = this.#spaces.get(cid);
    if (space === undefined) throw notFound(op, cid);
    return space;
  }
}

interface WantedPin {
  readonly views: Views;
  readonly written: ReadonlyMap<number, ContextMessage>;
  readonly n: number;
}

function checkPin(cid: CtxId, { views: { pins }, written, n }: WantedPin, { each, all }: PinBounds): void {
  const tokensOf = (at: number): number => {
    const message = written.get(at);
    return message === undefined ? 0 : messageTokens(message);
  };
  const refuse = (words: string): ContextError => failed("CtxPin", cid, "BUDGET", words);
  const own = tokensOf(n);
  if (!pins.has(n) && pins.size >= LIMITS.pins) throw refuse(`there are ${LIMITS.pins} pins already`);
  if (own > each) throw refuse(`message ${n} has about ${own} tokens; at most ${each} can be pinned`);
  const sum = [...new Set([...pins, n])].reduce((tokens, at) => tokens + tokensOf(at), 0);
  if (sum > all) throw refuse(`all pins would have about ${sum} tokens together; at most ${all}`);
}

function add(space: Space, message: ContextMessage): void {
  space.messages.push(message);
  space.numbers.push(++space.views.count);
  if (space.keepsAll) space.originals.set(space.views.count, message);
}

/** The messages of the view as they were written; one that was cleared in an earlier daemon, as it is shown. */
function writtenOf({ messages, numbers, originals }: Space): Map<number, ContextMessage> {
  return new Map(numbers.map((n, i) => [n, originals.get(n) ?? (messages[i] as ContextMessage)]));
}

/** Renders the view from the messages in memory. What it does not need is let go. */
function show(space: Space): void {
  const { views, originals, keepsAll } = space;
  const view = headOf(views);
  const shown = new Map(space.numbers.map((n, i) => [n, space.messages[i]]));
  const clears = new Map(view.clears.map(({ n, keep = 0 }) => [n, keep]));
  space.numbers = numbersOf(views, view);
  space.messages = space.numbers.map((n) => {
    const [keep, written, present] = [clears.get(n), originals.get(n), shown.get(n)];
    const message = written ?? present;
    if (message === undefined) throw failed("CtxMove", space.cid, "INTERNAL", `message ${n} was not kept`);
    if (keep === undefined) return message;
    const cleared = clearedMessage(message, keep);
    // the same text again is the same message: what was made of it stays good
    return present?.content === cleared.content && present.media === undefined ? present : cleared;
  });
  if (!keepsAll) space.originals = new Map();
}

function checkHead(op: string, { cid, views }: Space, from: number): void {
  if (from === views.moves) return;
  throw failed(op, cid, "CONFLICT", `the view has moved: it is at ${views.moves}, not ${from}`);
}

function checkSize(op: string, cid: CtxId, content: string): void {
  if (content.length <= LIMITS.messageChars) return;
  throw failed(op, cid, "INVALID", `message of ${content.length} characters; at most ${LIMITS.messageChars}`);
}

function checkMedia(op: string, cid: CtxId, { media = [] }: ContextMessage): void {
  const chars = media.reduce((sum, { data }) => sum + data.length, 0);
  if (chars <= LIMITS.messageMediaChars) return;
  throw failed(op, cid, "INVALID", `pictures of ${chars} characters; at most ${LIMITS.messageMediaChars}`);
}

function full(op: string, space: Space): ContextError {
  return failed(
    op,
    space.cid,
    "INTERNAL",
    `context full: ${space.messages.length} of ${space.capacity} messages`,
  );
}

function notFound(op: string, cid: CtxId): ContextError {
  return failed(op, cid, "NOT_FOUND", "context not found");
}

function failed(
  op: string,
  cid: CtxId,
  code: "BUDGET" | "CONFLICT" | "INTERNAL" | "INVALID" | "NOT_FOUND",
  message: string,
): ContextError {
  return new ContextError({ op, cid, code, message });
}

const ROLES: ReadonlySet<string> = new Set<Role>(["system", "user", "assistant", "tool"]);

/** The JSON form of one context message, as CtxWrite takes it. */
function parseMessage(cid: CtxId, data: Uint8Array): ContextMessage {
  const value = parseJson(cid, data);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw bad(cid, "message is not an object");
  const { role, content, tool_call_id } = value as Record<string, unknown>;
  if (typeof role !== "string" || !ROLES.has(role)) throw bad(cid, `unknown role: ${String(role)}`);
  if (typeof content !== "string") throw bad(cid, "content is not a string");
  if (tool_call_id === undefined) return { role: role as Role, content };
  if (typeof tool_call_id !== "string") throw bad(cid, "tool_call_id is not a string");
  return { role: role as Role, content, tool_call_id };
}

function parseJson(cid: CtxId, data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch (error) {
    throw bad(cid, `message is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function bad(cid: CtxId, message: string): ContextError {
  return new ContextError({ op: "CtxWrite", cid, code: "INTERNAL", message });
}
