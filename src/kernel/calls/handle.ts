/** The Sys handle of one process: every method is one passage through the gate. A scoped handle has narrower rights. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { FileStat, OpenFlag } from "../../abi/device.ts";
import type { CoId, CtxId, Fd, Pgid, Pid, Tid } from "../../abi/ids.ts";
import type { Block } from "../../abi/llm.ts";
import type { Message } from "../../abi/mail.ts";
import type { McpConfig, McpState } from "../../abi/mcp.ts";
import type {
  Disposition,
  ExitStatus,
  PermissionMode,
  ProcInfo,
  Signal,
  SignalAction,
} from "../../abi/process.ts";
import type { SupervisorSpec } from "../../abi/supervise.ts";
import type {
  ContextMessage,
  CoroutineHandle,
  CoroutineStep,
  Prompt,
  RecvOptions,
  Role,
  SendOptions,
  Sent,
  SpawnOpts,
  Sys,
  ThreadView,
  Woken,
} from "../../abi/sys.ts";
import type { MediaPart } from "../../abi/tool.ts";
import type { Core } from "../core.ts";
import type { Call } from "../gate/call.ts";
import { enter } from "../gate/gate.ts";
import type { Scope } from "../gate/scope.ts";
import type { CoroutineBody } from "../process/coroutine.ts";
import type { Process } from "../process/process.ts";
import { appendMessage } from "./append-message.ts";
import { appendToolResult } from "./append-tool-result.ts";
import { buildPrompt } from "./build-prompt.ts";
import { cancelCoroutine } from "./cancel-coroutine.ts";
import { cancelThread } from "./cancel-thread.ts";
import { close } from "./close.ts";
import { ctxAlloc } from "./ctx-alloc.ts";
import { ctxFree } from "./ctx-free.ts";
import { ctxRead } from "./ctx-read.ts";
import { ctxWrite } from "./ctx-write.ts";
import { exit } from "./exit.ts";
import { getProcGroup } from "./get-proc-group.ts";
import { joinGroup } from "./join-group.ts";
import { joinThread } from "./join-thread.ts";
import { kill } from "./kill.ts";
import { leaveGroup } from "./leave-group.ts";
import { listProcs } from "./list-procs.ts";
import { listThreads } from "./list-threads.ts";
import { mount } from "./mount.ts";
import { open } from "./open.ts";
import { pipe } from "./pipe.ts";
import { read } from "./read.ts";
import { reap } from "./reap.ts";
import { recv } from "./recv.ts";
import { resumeCoroutine } from "./resume-coroutine.ts";
import { send } from "./send.ts";
import { setMode } from "./set-mode.ts";
import { setSystemPrompt } from "./set-system-prompt.ts";
import { sigBlock } from "./sig-block.ts";
import { sigHandle } from "./sig-handle.ts";
import { sigUnblock } from "./sig-unblock.ts";
import { signal } from "./signal.ts";
import { signalGroup } from "./signal-group.ts";
import { sleep } from "./sleep.ts";
import { spawn } from "./spawn.ts";
import { spawnCoroutine } from "./spawn-coroutine.ts";
import { spawnSupervisor } from "./spawn-supervisor.ts";
import { spawnThread } from "./spawn-thread.ts";
import { stat } from "./stat.ts";
import { unmount } from "./unmount.ts";
import { unmountAll } from "./unmount-all.ts";
import { wait } from "./wait.ts";
import { write } from "./write.ts";

export function handleFor(core: Core, self: Process, scope: Scope | null = null, signal?: AbortSignal): Sys {
  return new Handle(core, self, scope, signal);
}

class Handle implements Sys {
  readonly #core: Core;
  readonly #self: Process;
  readonly #scope: Scope | null;
  readonly #signal: AbortSignal | undefined;

  constructor(core: Core, self: Process, scope: Scope | null, signal: AbortSignal | undefined) {
    this.#core = core;
    this.#self = self;
    this.#scope = scope;
    this.#signal = signal;
  }

  #enter<A, R>(call: Call<A, R>, args: A, signal?: AbortSignal): Promise<R> {
    return enter(this.#core, this.#self, call, args, this.#scope, signal, this.#signal);
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
  signal(pid: Pid, sig: Signal): Promise<Disposition> {
    return this.#enter(signal, { pid, signal: sig });
  }
  setMode(mode: PermissionMode): Promise<void> {
    return this.#enter(setMode, { mode });
  }
  sigBlock(pid: Pid, sig: Signal): Promise<void> {
    return this.#enter(sigBlock, { pid, signal: sig });
  }
  sigUnblock(pid: Pid, sig: Signal): Promise<void> {
    return this.#enter(sigUnblock, { pid, signal: sig });
  }
  sigHandle(sig: Signal, action: SignalAction): Promise<void> {
    return this.#enter(sigHandle, { signal: sig, action });
  }
  joinGroup(pid: Pid, group: Pgid | string): Promise<Pgid> {
    return this.#enter(joinGroup, { pid, group });
  }
  leaveGroup(pid: Pid, group: Pgid | string): Promise<void> {
    return this.#enter(leaveGroup, { pid, group });
  }
  getProcGroup(group: Pgid | string): Promise<Pid[]> {
    return this.#enter(getProcGroup, { group });
  }
  signalGroup(group: Pgid | string, sig: Signal): Promise<number> {
    return this.#enter(signalGroup, { group, signal: sig });
  }
  send(target: Pid, data: Uint8Array, signal?: AbortSignal, options: SendOptions = {}): Promise<Sent> {
    return this.#enter(send, { pid: target, data, ...options }, signal);
  }
  recv(options: RecvOptions = {}, signal?: AbortSignal): Promise<Message> {
    return this.#enter(recv, options, signal);
  }
  sleep(ms: number, signal?: AbortSignal, options: { pid?: Pid } = {}): Promise<Woken> {
    return this.#enter(sleep, { ms, ...options }, signal);
  }
  pipe(writer: Pid, reader: Pid): Promise<{ writeFd: Fd; readFd: Fd }> {
    return this.#enter(pipe, { writer, reader });
  }
  spawnThread(intent: string, opts: { maxTurns?: number } = {}): Promise<Tid> {
    return this.#enter(spawnThread, { intent, maxTurns: opts.maxTurns ?? 0 });
  }
  joinThread(tid: Tid, signal?: AbortSignal): Promise<{ result: string; err?: Error }> {
    return this.#enter(joinThread, { tid }, signal);
  }
  cancelThread(tid: Tid): Promise<void> {
    return this.#enter(cancelThread, { tid });
  }
  listThreads(): Promise<ThreadView[]> {
    return this.#enter(listThreads, {});
  }
  spawnCoroutine<I, O, R>(body: (co: CoroutineHandle<I, O>, first: I) => Promise<R>): Promise<CoId> {
    // the table does not know what its bodies pass around; who resumes does
    return this.#enter(spawnCoroutine, { body: body as CoroutineBody });
  }
  async resumeCoroutine<I, O, R>(id: CoId, value: I, signal?: AbortSignal): Promise<CoroutineStep<O, R>> {
    return (await this.#enter(resumeCoroutine, { id, value }, signal)) as CoroutineStep<O, R>;
  }
  cancelCoroutine(id: CoId): Promise<void> {
    return this.#enter(cancelCoroutine, { id });
  }
  spawnSupervisor(spec: SupervisorSpec, opts: { parentPid?: Pid } = {}): Promise<Pid> {
    return this.#enter(spawnSupervisor, { spec, opts });
  }
  mount(path: string, config: McpConfig, signal?: AbortSignal): Promise<{ path: string; state: McpState }> {
    return this.#enter(mount, { path, config }, signal);
  }
  unmount(path: string): Promise<void> {
    return this.#enter(unmount, { path });
  }
  unmountAll(): Promise<void> {
    return this.#enter(unmountAll, {});
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
  appendToolResult(
    cid: CtxId,
    toolCallId: string,
    content: string,
    isError = false,
    media: readonly MediaPart[] = [],
  ): Promise<void> {
    const shown = media.length === 0 ? {} : { media };
    return this.#enter(appendToolResult, { cid, toolCallId, content, isError, ...shown });
  }
  buildPrompt(cid: CtxId): Promise<Prompt> {
    return this.#enter(buildPrompt, { cid });
  }
}
