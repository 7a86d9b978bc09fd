/**
 * The calls of contexts: the messages that a model is shown. A context belongs to its process; a call on another
 * process's context is PERMISSION. The kernel's clients may read contexts, but not change them.
 */

import { ContextError, SyscallError } from "../../abi/errors.ts";
import type { ProcessEvent } from "../../abi/events.ts";
import { type CtxId, PID_KERNEL } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { MediaPart } from "../../abi/tool.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import type { Call, CallName } from "../gate/call.ts";
import { checkLasting } from "../gate/covers.ts";
import type { Scope } from "../gate/scope.ts";
import { type Taker, takenDrafts } from "../ipc/taken.ts";
import { LIMITS } from "../limits.ts";
import type { Watchers } from "../log/watchers.ts";
import type { Journal, RecordKind } from "../ports/journal.ts";
import type { OwnContexts } from "../process/own-contexts.ts";
import type { OwnUse } from "../process/own-use.ts";
import type { Past } from "../process/past.ts";
import { type Redacting, redactedBytes, redactedMessage, redactedText } from "../redact/model-bound.ts";

/** The parts of the kernel that these calls use. */
export interface ContextKernel {
  readonly contexts: ContextSpaces;
  readonly ports: Redacting["ports"] & {
    readonly journal: Pick<Journal, "note">;
    readonly clock: Pick<Clock, "mono">;
  };
  readonly table: { all(): Iterable<Pick<ContextOwner, "ctxId" | "past">> };
  note(proc: ContextOwner, kind: RecordKind, body: unknown): void;
}

export interface ContextOwner extends Taker {
  /** The process's main context. */
  readonly ctxId: CtxId;
  readonly contexts: OwnContexts;
  readonly seen: { epoch: number };
  readonly past: Pick<Past, "recall">;
  readonly used: Pick<OwnUse, "calledTool">;
  readonly watchers: Pick<Watchers, "follows" | "settled">;
  tell(event: ProcessEvent, mono: number): void;
}

export interface ContextPass {
  readonly core: ContextKernel;
  readonly self: ContextOwner;
  readonly scope: Scope | null;
}

type ContextCall<Name extends CallName, Args> = Call<Name, Args, ContextKernel, ContextOwner>;

/** CtxAlloc(size): an empty context for `size` messages. It is freed with its process. */
const ctxAlloc: ContextCall<"ctxAlloc", { size: number }> = {
  name: "CtxAlloc",
  take: (size) => ({ size }),
  args: ({ size }) => ({ size }),
  result: (cid) => cid,
  run({ core, self, scope }, { size }) {
    checkLasting(scope, "contexts", { self, syscall: "CtxAlloc" });
    if (self.contexts.size >= LIMITS.contexts) {
      const message = `too many contexts: ${LIMITS.contexts}`;
      throw new SyscallError({ syscall: "CtxAlloc", pid: self.pid, code: "UNAVAILABLE", message });
    }
    return self.contexts.alloc(core.contexts, size);
  },
};

/** CtxRead(cid, length, offset): messages as JSON; 0, 0 is all. */
const ctxRead: ContextCall<"ctxRead", { cid: CtxId; offset: number; length: number }> = {
  name: "CtxRead",
  take: (cid, offset, length) => ({ cid, offset, length }),
  args: ({ cid, length, offset }) => ({ cid, length, offset }),
  result: (bytes) => bytes.byteLength,
  async run(pass, { cid, offset, length }) {
    requireReadable(pass, cid, "CtxRead");
    await ownerOf(pass, cid)?.past.recall();
    return pass.core.contexts.read(cid, offset, length);
  },
};

/**
 * CtxWrite(cid, offset, size): one JSON message; offset 0 appends, 1 … N replaces. The journal keeps what was replaced.
 */
const ctxWrite: ContextCall<"ctxWrite", { cid: CtxId; offset: number; data: Uint8Array }> = {
  name: "CtxWrite",
  take: (cid, offset, data) => ({ cid, offset, data }),
  args: ({ cid, offset, data }) => ({ cid, offset, size: data.byteLength }),
  run(pass, { cid, offset, data: said }) {
    requireOwn(pass, cid, "CtxWrite");
    const { core, self, scope } = pass;
    checkLasting(scope, "contexts", { self, syscall: "CtxWrite" });
    if (scope !== null && cid === self.ctxId) throw ofItsOwn("CtxWrite", cid);
    const data = redactedBytes(core, self, said);
    const { message, replaced } = core.contexts.write(cid, offset, data);
    journalMessage(pass, { cid, replaces: replaced }, message);
    // the replaced message may have shown a file's content: what the process has seen of files may no longer be in
    // context
    if (offset > 0 && cid === self.ctxId) self.seen.epoch++;
  },
};

/** CtxFree(cid): the messages leave memory; the journal keeps them. */
const ctxFree: ContextCall<"ctxFree", { cid: CtxId }> = {
  name: "CtxFree",
  take: (cid) => ({ cid }),
  args: ({ cid }) => ({ cid }),
  run(pass, { cid }) {
    const { core, self, scope } = pass;
    checkLasting(scope, "contexts", { self, syscall: "CtxFree" });
    if (cid === self.ctxId) throw ofItsOwn("CtxFree", cid);
    requireOwn(pass, cid, "CtxFree");
    self.contexts.free(core.contexts, cid);
  },
};

/** SetSystemPrompt(cid, size). */
const setSystemPrompt: ContextCall<"setSystemPrompt", { cid: CtxId; text: string }> = {
  name: "SetSystemPrompt",
  quiet: true,
  take: (cid, text) => ({ cid, text }),
  args: ({ cid, text }) => ({ cid, size: Buffer.byteLength(text) }),
  run(pass, { cid, text: said }) {
    requireOwn(pass, cid, "SetSystemPrompt");
    const { core, self } = pass;
    const text = redactedText(core, self, said);
    core.contexts.setSystemPrompt(cid, text);
    core.note(self, "ctx.record", { system_prompt: text, ...(cid === self.ctxId ? {} : { cid }) });
  },
};

/** AppendMessage(cid, role, size): the loop's form of CtxWrite; it grows the context. */
const appendMessage: ContextCall<"appendMessage", { cid: CtxId; message: ContextMessage }> = {
  name: "AppendMessage",
  quiet: true,
  take: (cid, role, content, blocks, media) => ({
    cid,
    message: {
      role,
      content,
      ...(blocks === undefined ? {} : { blocks }),
      ...(media === undefined ? {} : { media }),
    },
  }),
  args: ({ cid, message }) => ({ cid, role: message.role, size: Buffer.byteLength(message.content) }),
  run(pass, { cid, message }) {
    append(pass, { cid, op: "AppendMessage" }, message);
    if (message.role === "assistant" && cid === pass.self.ctxId) pass.self.watchers.settled();
  },
};

interface ToolOutcome {
  readonly cid: CtxId;
  readonly toolCallId: string;
  readonly content: string;
  readonly isError: boolean;
  readonly media?: readonly MediaPart[];
}

/** AppendToolResult(cid, id, size): the one result of one tool call. */
const appendToolResult: ContextCall<"appendToolResult", ToolOutcome> = {
  name: "AppendToolResult",
  quiet: true,
  take: (cid, toolCallId, content, isError = false, media = []) => ({
    cid,
    toolCallId,
    content,
    isError,
    ...(media.length === 0 ? {} : { media }),
  }),
  args: ({ cid, toolCallId, content }) => ({ cid, id: toolCallId, size: Buffer.byteLength(content) }),
  run(pass, { cid, toolCallId, content, isError, media }) {
    const result: ContextMessage = { role: "tool", content, tool_call_id: toolCallId };
    const shown = media === undefined ? {} : { media };
    const said = append(
      pass,
      { cid, op: "AppendToolResult" },
      { ...result, ...(isError ? { is_error: true } : {}), ...shown },
    );
    if (cid !== pass.self.ctxId) return;
    pass.self.used.calledTool();
    tellResult(pass, said);
  },
};

/** Tells clients that follow the messages. */
function tellResult(
  { core, self }: Pick<ContextPass, "core" | "self">,
  { content, tool_call_id: id = "", is_error, media }: ContextMessage,
): void {
  if (!self.watchers.follows("messages")) return;
  const more = { ...(is_error === true ? { is_error } : {}), ...(media === undefined ? {} : { media }) };
  const result = { type: "tool_result", tool_use_id: id, content, ...more } as const;
  self.tell({ event: "tool_result", pid: self.pid, result }, core.ports.clock.mono());
}

/** BuildPrompt(cid): system prompt and messages, a snapshot. */
const buildPrompt: ContextCall<"buildPrompt", { cid: CtxId }> = {
  name: "BuildPrompt",
  quiet: true,
  take: (cid) => ({ cid }),
  args: ({ cid }) => ({ cid }),
  result: (prompt) => prompt.messages.length,
  run(pass, { cid }) {
    requireReadable(pass, cid, "BuildPrompt");
    return pass.core.contexts.prompt(cid);
  },
};

/** The conversation of a process is changed by its loop alone, and kept to its end. */
export function ofItsOwn(op: string, cid: CtxId): ContextError {
  const message = "a process keeps its own context to its end";
  return new ContextError({ op, cid, code: "PERMISSION", message });
}

export function requireOwn({ core, self }: ContextPass, cid: CtxId, op: string): void {
  if (self.contexts.has(cid)) return;
  if (!core.contexts.has(cid))
    throw new ContextError({ op, cid, code: "NOT_FOUND", message: "context not found" });
  throw new ContextError({ op, cid, code: "PERMISSION", message: "context belongs to another process" });
}

export function requireReadable(pass: ContextPass, cid: CtxId, op: string): void {
  const { core, self } = pass;
  if (self.pid === PID_KERNEL && core.contexts.has(cid)) return;
  requireOwn(pass, cid, op);
}

/** The owner of a context that is not the caller's; undefined: the caller's own (it needs no recall), or not found. */
function ownerOf({ core, self }: ContextPass, cid: CtxId): Pick<ContextOwner, "past"> | undefined {
  if (self.contexts.has(cid)) return undefined;
  for (const proc of core.table.all()) if (proc.ctxId === cid) return proc;
  return undefined;
}

/** The context that a call appends to, and the name of that call. */
interface Place {
  readonly cid: CtxId;
  readonly op: string;
}

/** The message as it was kept. */
function append(pass: ContextPass, { cid, op }: Place, said: ContextMessage): ContextMessage {
  requireOwn(pass, cid, op);
  const { core, self } = pass;
  const message = redactedMessage(core, self, said);
  core.contexts.append(cid, message);
  journalMessage(pass, { cid, replaces: 0 }, message);
  return message;
}

/** A message's position in a context; `replaces` 0: at its end. */
interface Position {
  readonly cid: CtxId;
  readonly replaces: number;
}

/**
 * Journals a message, synced with the next group: before the model sees it, because its request is synced later.
 * Without `cid` it belongs to the process's main context.
 */
function journalMessage(
  { core, self }: ContextPass,
  { cid, replaces }: Position,
  message: ContextMessage,
): void {
  const body = {
    ...message,
    ...(replaces === 0 ? {} : { replaces }),
    ...(cid === self.ctxId ? {} : { cid }),
  };
  const record = { proc: self.seed.uuid, pid: self.pid, kind: "ctx.record", v: 1, body } as const;
  // the taking of a received message and the message made from it go in one batch: a crash leaves both or neither
  core.ports.journal.note([record, ...takenDrafts(self)]);
}

export const contextCalls = {
  ctxAlloc,
  ctxRead,
  ctxWrite,
  ctxFree,
  setSystemPrompt,
  appendMessage,
  appendToolResult,
  buildPrompt,
};
