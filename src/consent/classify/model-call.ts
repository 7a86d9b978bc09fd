/**
 * One call of a process's own model by the kernel, in the process's name and on its account: permitted, reserved,
 * journalled and traced like any other, but not a call of its program, so it bypasses the tape.
 */
import { O_RDWR } from "../../abi/device.ts";
import { SyscallError } from "../../abi/errors.ts";
import { asCallId, type Fd } from "../../abi/ids.ts";
import type { LlmRequest } from "../../abi/llm.ts";
import { close, type Filing, open, read, write } from "../../kernel/calls/file.ts";
import { type Entrant, through } from "../../kernel/gate/gate.ts";
import type { Scope } from "../../kernel/gate/scope.ts";
import type { ClassifierRequest } from "../../kernel/ports/classifier.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import { type ClassifierAnswer, foldAnswer } from "./answer.ts";

const READ_BYTES = 64 * 1024;
/** A verdict and its reasons take only a few lines. */
const MAX_ANSWER_CHARS = 256 * 1024;

/** What a call of the model needs of the kernel. */
export type Calling = Filing & { readonly ports: Pick<KernelPorts, "clock"> };

/** One question to the model. */
interface Question {
  readonly core: Calling;
  readonly self: Process;
  readonly request: ClassifierRequest;
}

/** TIMEOUT after `ms`; CANCELLED when the signal fires. */
export async function callModel(
  question: Question,
  ms: number,
  signal: AbortSignal,
): Promise<ClassifierAnswer> {
  const timer = new AbortController();
  const limit = new AbortController();
  const timeout = question.core.ports.clock.sleep(ms, timer.signal).then(
    () => limit.abort(ABORTED),
    () => {},
  );
  using linked = linkSignals(signal, limit.signal);
  try {
    return await asked(question, linked.signal);
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
    throw failed(question.self, "TIMEOUT", `no answer within ${Math.round(ms / 1000)} s`);
  } finally {
    timer.abort(ABORTED);
    await timeout;
  }
}

async function asked({ core, self, request }: Question, signal: AbortSignal): Promise<ClassifierAnswer> {
  const scope: Scope = { callId: asCallId(`c_${core.ports.nonce()}`), tool: "classifier", effects: [] };
  const beside = { core, self, scope };
  const fd = await through({
    ...beside,
    call: open,
    args: { path: self.model.device, flags: O_RDWR },
    signal,
  });
  try {
    const data = Buffer.from(JSON.stringify(llmRequest(core, self, request)));
    // without a scope it is reserved, journalled and settled as a call of its own
    await through({ core, self, scope: null, call: write, args: { fd, data }, signal });
    return foldAnswer(await wholeReply(beside, fd, signal));
  } finally {
    await through({ ...beside, call: close, args: { fd } }).catch(() => {});
  }
}

/** Reads to the end of the reply. DRIVER: the reply broke off, or is too long. */
async function wholeReply(beside: Entrant<Filing>, fd: Fd, signal: AbortSignal): Promise<readonly string[]> {
  const { self } = beside;
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const bytes = await through({ ...beside, call: read, args: { fd, length: READ_BYTES }, signal });
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.at(-1)?.includes('"message_stop"') === true) return lines;
    if (bytes.byteLength === 0) throw failed(self, "DRIVER", "the answer broke off");
    if (text.length > MAX_ANSWER_CHARS) throw failed(self, "DRIVER", "the answer has no end");
  }
}

function llmRequest(
  core: Pick<Calling, "ports">,
  { pid, model }: Process,
  request: ClassifierRequest,
): LlmRequest {
  const { system, messages, maxOutputTokens, stopSequences } = request;
  return {
    requestId: `j${pid}-${core.ports.nonce()}`,
    purpose: "helper",
    model: model.name,
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
  { pid, model: { device } }: Process,
  code: "TIMEOUT" | "DRIVER",
  message: string,
): SyscallError {
  return new SyscallError({ syscall: "Write", pid, device, code, message });
}
