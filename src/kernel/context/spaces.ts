/**
 * Context spaces: the ordered messages of the processes. Allocated in spawn, freed in reaping. Every method is
 * synchronous, so writes to one context run one after another by construction.
 */
import { ContextError } from "../../abi/errors.ts";
import { asCtxId, type CtxId } from "../../abi/ids.ts";
import type { ContextMessage, Prompt } from "../../abi/sys.ts";
import { LIMITS } from "../limits.ts";
import { parseMessage } from "./message.ts";
import { summarise } from "./summary.ts";

interface Space {
  readonly cid: CtxId;
  systemPrompt: string;
  readonly messages: ContextMessage[];
  capacity: number;
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
    this.#spaces.set(cid, { cid, systemPrompt: "", messages: [], capacity: size });
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
    space.messages.push(message);
  }

  /** `offset` 0 appends within the capacity, 1 … N replaces message N. */
  write(cid: CtxId, offset: number, data: Uint8Array): ContextMessage {
    const space = this.#find("CtxWrite", cid);
    const message = parseMessage(cid, data);
    checkSize("CtxWrite", cid, message.content);
    if (!Number.isInteger(offset) || offset < 0 || offset > space.messages.length) {
      throw failed("CtxWrite", cid, "INTERNAL", `offset out of range: ${offset} of ${space.messages.length}`);
    }
    if (offset > 0) space.messages[offset - 1] = message;
    else if (space.messages.length >= space.capacity) throw full("CtxWrite", space);
    else space.messages.push(message);
    return message;
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
  code: "INTERNAL" | "INVALID" | "NOT_FOUND",
  message: string,
): ContextError {
  return new ContextError({ op, cid, code, message });
}
