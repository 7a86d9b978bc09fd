/** The Sys handle of one process: every method is one passage through the gate. A scoped handle has narrower rights. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { FileStat, OpenFlag } from "../../abi/device.ts";
import type { CtxId, Fd, Pid } from "../../abi/ids.ts";
import type { Block } from "../../abi/llm.ts";
import type { ExitStatus, ProcInfo, Signal } from "../../abi/process.ts";
import type { ContextMessage, Prompt, Role, SpawnOpts, Sys } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { appendMessage } from "./append-message.ts";
import { appendToolResult } from "./append-tool-result.ts";
import { buildPrompt } from "./build-prompt.ts";
import type { Call, Scope } from "./call.ts";
import { close } from "./close.ts";
import { ctxAlloc } from "./ctx-alloc.ts";
import { ctxFree } from "./ctx-free.ts";
import { ctxRead } from "./ctx-read.ts";
import { ctxWrite } from "./ctx-write.ts";
import { exit } from "./exit.ts";
import { enter } from "./gate.ts";
import { kill } from "./kill.ts";
import { listProcs } from "./list-procs.ts";
import { open } from "./open.ts";
import { read } from "./read.ts";
import { reap } from "./reap.ts";
import { setSystemPrompt } from "./set-system-prompt.ts";
import { spawn } from "./spawn.ts";
import { stat } from "./stat.ts";
import { wait } from "./wait.ts";
import { write } from "./write.ts";

export function handleFor(core: Core, self: Process, scope: Scope | null = null): Sys {
  return new Handle(core, self, scope);
}

class Handle implements Sys {
  readonly #core: Core;
  readonly #self: Process;
  readonly #scope: Scope | null;

  constructor(core: Core, self: Process, scope: Scope | null) {
    this.#core = core;
    this.#self = self;
    this.#scope = scope;
  }

  #enter<A, R>(call: Call<A, R>, args: A, signal?: AbortSignal): Promise<R> {
    return enter(this.#core, this.#self, call, args, this.#scope, signal);
  }

  getPid(): Pid {
    return this.#self.pid;
  }
  spawn(intent: string, agent: AgentInfo | null, opts: SpawnOpts = {}): Promise<Pid> {
    return this.#enter(spawn, { intent, agent, opts });
  }
  kill(pid: Pid, signal: Signal): Promise<void> {
    return this.#enter(kill, { pid, signal });
  }
  wait(pid: Pid, signal?: AbortSignal): Promise<ExitStatus> {
    return this.#enter(wait, { pid }, signal);
  }
  listProcs(): Promise<ProcInfo[]> {
    return this.#enter(listProcs, {});
  }
  exit(code: number, reason = ""): Promise<never> {
    return this.#enter(exit, { code, reason });
  }
  reap(pid: Pid): Promise<void> {
    return this.#enter(reap, { pid });
  }
  open(path: string, flags: OpenFlag, signal?: AbortSignal): Promise<Fd> {
    return this.#enter(open, { path, flags }, signal);
  }
  read(fd: Fd, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#enter(read, { fd, length }, signal);
  }
  write(fd: Fd, data: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#enter(write, { fd, data }, signal);
  }
  close(fd: Fd): Promise<void> {
    return this.#enter(close, { fd });
  }
  stat(path: string): Promise<FileStat> {
    return this.#enter(stat, { path });
  }
  ctxAlloc(size: number): Promise<CtxId> {
    return this.#enter(ctxAlloc, { size });
  }
  ctxRead(cid: CtxId, offset: number, length: number): Promise<Uint8Array> {
    return this.#enter(ctxRead, { cid, offset, length });
  }
  ctxWrite(cid: CtxId, offset: number, data: Uint8Array): Promise<void> {
    return this.#enter(ctxWrite, { cid, offset, data });
  }
  ctxFree(cid: CtxId): Promise<void> {
    return this.#enter(ctxFree, { cid });
  }
  setSystemPrompt(cid: CtxId, text: string): Promise<void> {
    return this.#enter(setSystemPrompt, { cid, text });
  }
  appendMessage(cid: CtxId, role: Role, content: string, blocks?: readonly Block[]): Promise<void> {
    const message: ContextMessage = blocks === undefined ? { role, content } : { role, content, blocks };
    return this.#enter(appendMessage, { cid, message });
  }
  appendToolResult(cid: CtxId, toolCallId: string, content: string, isError = false): Promise<void> {
    return this.#enter(appendToolResult, { cid, toolCallId, content, isError });
  }
  buildPrompt(cid: CtxId): Promise<Prompt> {
    return this.#enter(buildPrompt, { cid });
  }
}
