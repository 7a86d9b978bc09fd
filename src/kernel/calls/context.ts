/**
 * The calls of contexts: the messages that a model is shown. A context belongs to its process;
 * another's is PERMISSION. The kernel's clients may look, and change nothing.
 */
import { ContextError, SyscallError } from "../../abi/errors.ts";
import { type CtxId, PID_KERNEL } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { MediaPart } from "../../abi/tool.ts";
import { redactedBytes, redactedMessage, redactedText } from "../../consent/redact/model-bound.ts";
import type { Core } from "../core.ts";
import type { KernelCall } from "../gate/gate.ts";
import { takenDrafts } from "../ipc/taken.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";

/** CtxAlloc(size): an empty context for `size` messages. It is freed with its process. */
const ctxAlloc: KernelCall<"ctxAlloc", { size: number }> = {
  name: "CtxAlloc",
  take: (size) => ({ size }),
  args: ({ size }) => ({ size }),
  result: (cid) => cid,
  run({ core, self }, { size }) {
    if (self.contexts.size >= LIMITS.contexts) {
      const message = `too many contexts: ${LIMITS.contexts}`;
      throw new SyscallError({ syscall: "CtxAlloc", pid: self.pid, code: "UNAVAILABLE", message });
    }
    const cid = core.contexts.alloc(size);
    self.contexts.add(cid);
    return cid;
  },
};

/** CtxRead(cid, length, offset): messages as JSON; 0, 0 is all. */
const ctxRead: KernelCall<"ctxRead", { cid: CtxId; offset: number; length: number }> = {
  name: "CtxRead",
  take: (cid, offset, length) => ({ cid, offset, length }),
  args: ({ cid, length, offset }) => ({ cid, length, offset }),
  result: (bytes) => bytes.byteLength,
  async run({ core, self }, { cid, offset, length }) {
    requireReadable(core, self, cid, "CtxRead");
    await ownerOf(core, self, cid)?.recall?.();
    return core.contexts.read(cid, offset, length);
  },
};

/** CtxWrite(cid, offset, size): one JSON message; offset 0 appends, 1 … N replaces. The journal keeps what was replaced. */
const ctxWrite: KernelCall<"ctxWrite", { cid: CtxId; offset: number; data: Uint8Array }> = {
  name: "CtxWrite",
  take: (cid, offset, data) => ({ cid, offset, data }),
  args: ({ cid, offset, data }) => ({ cid, offset, size: data.byteLength }),
  run({ core, self }, { cid, offset, data: said }) {
    requireOwn(core, self, cid, "CtxWrite");
    const data = redactedBytes(core, self, said);
    journalMessage(core, self, cid, core.contexts.write(cid, offset, data), offset);
    // what it was shown of a file may have gone with the message
    if (offset > 0 && cid === self.ctxId) self.seen.epoch++;
  },
};

/** CtxFree(cid): the messages leave memory; the journal keeps them. */
const ctxFree: KernelCall<"ctxFree", { cid: CtxId }> = {
  name: "CtxFree",
  take: (cid) => ({ cid }),
  args: ({ cid }) => ({ cid }),
  run({ core, self }, { cid }) {
    if (cid === self.ctxId) {
      const message = "a process keeps its own context to its end";
      throw new ContextError({ op: "CtxFree", cid, code: "PERMISSION", message });
    }
    requireOwn(core, self, cid, "CtxFree");
    core.contexts.free(cid);
    self.contexts.delete(cid);
  },
};

/** SetSystemPrompt(cid, size). */
const setSystemPrompt: KernelCall<"setSystemPrompt", { cid: CtxId; text: string }> = {
  name: "SetSystemPrompt",
  quiet: true,
  take: (cid, text) => ({ cid, text }),
  args: ({ cid, text }) => ({ cid, size: Buffer.byteLength(text) }),
  run({ core, self }, { cid, text: said }) {
    requireOwn(core, self, cid, "SetSystemPrompt");
    const text = redactedText(core, self, said);
    core.contexts.setSystemPrompt(cid, text);
    journalSystemPrompt(core, self, cid, text);
  },
};

/** AppendMessage(cid, role, size): the loop's form of CtxWrite; it grows the context. */
const appendMessage: KernelCall<"appendMessage", { cid: CtxId; message: ContextMessage }> = {
  name: "AppendMessage",
  quiet: true,
  take: (cid, role, content, blocks) => ({
    cid,
    message: blocks === undefined ? { role, content } : { role, content, blocks },
  }),
  args: ({ cid, message }) => ({ cid, role: message.role, size: Buffer.byteLength(message.content) }),
  run({ core, self }, { cid, message: said }) {
    requireOwn(core, self, cid, "AppendMessage");
    const message = redactedMessage(core, self, said);
    core.contexts.append(cid, message);
    journalMessage(core, self, cid, message, 0);
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
const appendToolResult: KernelCall<"appendToolResult", ToolOutcome> = {
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
  run({ core, self }, { cid, toolCallId, content, isError, media }) {
    requireOwn(core, self, cid, "AppendToolResult");
    const result: ContextMessage = { role: "tool", content, tool_call_id: toolCallId };
    const shown = media === undefined ? {} : { media };
    const said = { ...result, ...(isError ? { is_error: true } : {}), ...shown };
    const message = redactedMessage(core, self, said);
    core.contexts.append(cid, message);
    journalMessage(core, self, cid, message, 0);
  },
};

/** BuildPrompt(cid): system prompt and messages, a snapshot. */
const buildPrompt: KernelCall<"buildPrompt", { cid: CtxId }> = {
  name: "BuildPrompt",
  quiet: true,
  take: (cid) => ({ cid }),
  args: ({ cid }) => ({ cid }),
  result: (prompt) => prompt.messages.length,
  run({ core, self }, { cid }) {
    requireReadable(core, self, cid, "BuildPrompt");
    return core.contexts.prompt(cid);
  },
};

function requireOwn(core: Core, self: Process, cid: CtxId, op: string): void {
  if (self.contexts.has(cid)) return;
  if (!core.contexts.has(cid))
    throw new ContextError({ op, cid, code: "NOT_FOUND", message: "context not found" });
  throw new ContextError({ op, cid, code: "PERMISSION", message: "context belongs to another process" });
}

function requireReadable(core: Core, self: Process, cid: CtxId, op: string): void {
  if (self.pid === PID_KERNEL && core.contexts.has(cid)) return;
  requireOwn(core, self, cid, op);
}

/** Whose it is, as far as `self` has to ask: one that a program has is there. */
function ownerOf(core: Core, self: Process, cid: CtxId): Process | undefined {
  if (self.contexts.has(cid)) return undefined;
  for (const proc of core.table.all()) if (proc.ctxId === cid) return proc;
  return undefined;
}

/**
 * A message in the journal, synced with the next group: before the model sees it, because its request is synced later.
 * Without `cid` it belongs to the process's first context.
 */
function journalMessage(
  core: Core,
  self: Process,
  cid: CtxId,
  message: ContextMessage,
  replaces: number,
): void {
  const body = {
    ...message,
    ...(replaces === 0 ? {} : { replaces }),
    ...(cid === self.ctxId ? {} : { cid }),
  };
  const record = { proc: self.seed.uuid, pid: self.pid, kind: "ctx.record", v: 1, body } as const;
  // a received message and what was made of it are one: a crash leaves both or neither
  core.ports.journal.note([record, ...takenDrafts(self)]);
}

function journalSystemPrompt(core: Core, self: Process, cid: CtxId, text: string): void {
  core.note(self, "ctx.record", { system_prompt: text, ...(cid === self.ctxId ? {} : { cid }) });
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
