/**
 * One call of a process's own model by the kernel, in its name and on its account: permitted, reserved, journalled and traced as
 * every other, but no call of its program, so its tape does not hear of it.
 */
import { O_RDWR } from "../../abi/device.ts";
import { SyscallError } from "../../abi/errors.ts";
import { asCallId, type Fd } from "../../abi/ids.ts";
import type { LlmRequest } from "../../abi/llm.ts";
import { close, open, read, write } from "../../kernel/calls/file.ts";
import type { Core } from "../../kernel/core.ts";
import { through } from "../../kernel/gate/gate.ts";
import type { Scope } from "../../kernel/gate/scope.ts";
import type { ClassifierRequest } from "../../kernel/ports/classifier.ts";
import type { Process } from "../../kernel/process/process.ts";
import { linkSignals } from "../../lib/abort.ts";
import { type ClassifierAnswer, foldAnswer } from "./answer.ts";

const READ_BYTES = 64 * 1024;
/** A verdict and its reasons are a few lines. */
const MAX_ANSWER_CHARS = 256 * 1024;

/** TIMEOUT after `ms`; CANCELLED when the signal fires. */
export async function callModel(
  core: Core,
  self: Process,
  request: ClassifierRequest,
  ms: number,
  signal: AbortSignal,
): Promise<ClassifierAnswer> {
  const timer = new AbortController();
  const limit = new AbortController();
  const timeout = core.ports.clock.sleep(ms, timer.signal).then(
    () => limit.abort(),
    () => {},
  );
  using linked = linkSignals(signal, limit.signal);
  try {
    return await asked(core, self, request, linked.signal);
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
    throw failed(self, "TIMEOUT", `no answer within ${Math.round(ms / 1000)} s`);
  } finally {
    timer.abort();
    await timeout;
  }
}

async function asked(
  core: Core,
  self: Process,
  request: ClassifierRequest,
  signal: AbortSignal,
): Promise<ClassifierAnswer> {
  const beside: Scope = { callId: asCallId(`c_${core.ports.nonce()}`), tool: "classifier", effects: [] };
  const path = self.modelDevice;
  const fd = await through(core, self, open, { path, flags: O_RDWR }, beside, signal);
  try {
    const data = Buffer.from(JSON.stringify(llmRequest(core, self, request)));
    // with no scope of its own: it is set aside, journalled and settled by itself
    await through(core, self, write, { fd, data }, null, signal);
    return foldAnswer(await wholeReply(core, self, fd, beside, signal));
  } finally {
    await through(core, self, close, { fd }, beside).catch(() => {});
  }
}

/** What breaks off in the middle is no answer. */
async function wholeReply(
  core: Core,
  self: Process,
  fd: Fd,
  beside: Scope,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const bytes = await through(core, self, read, { fd, length: READ_BYTES }, beside, signal);
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.at(-1)?.includes('"message_stop"') === true) return lines;
    if (bytes.byteLength === 0) throw failed(self, "DRIVER", "the answer broke off");
    if (text.length > MAX_ANSWER_CHARS) throw failed(self, "DRIVER", "the answer has no end");
  }
}

function llmRequest(core: Core, { pid, model }: Process, request: ClassifierRequest): LlmRequest {
  const { system, messages, maxOutputTokens, stopSequences } = request;
  return {
    requestId: `j${pid}-${core.ports.nonce()}`,
    purpose: "helper",
    model,
    system: [...system],
    tools: [],
    messages: [...messages],
    maxOutputTokens,
    ...(stopSequences.length === 0 ? {} : { stopSequences: [...stopSequences] }),
    sharesPrefix: true,
    stream: false,
  };
}

function failed(
  { pid, modelDevice: device }: Process,
  code: "TIMEOUT" | "DRIVER",
  message: string,
): SyscallError {
  return new SyscallError({ syscall: "Write", pid, device, code, message });
}
