/** For tests: a process whose model is a script, whose tools are functions and whose clock is virtual. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { CallNote } from "../../abi/call-note.ts";
import type { ContextMove, Measures, WindowFacts } from "../../abi/context.ts";
import { DriverError, Fault, VfsError } from "../../abi/errors.ts";
import type { ForkOffer } from "../../abi/fork.ts";
import { asCtxId, asFd, asPid, type Fd } from "../../abi/ids.ts";
import { type Block, type LlmRequest, type Reply, totalTokens } from "../../abi/llm.ts";
import type { Message } from "../../abi/mail.ts";
import type { Activity, ExitStatus } from "../../abi/process.ts";
import type { ChosenModel, ProgramStart, Restored } from "../../abi/program.ts";
import type { Nearby, Surroundings } from "../../abi/surroundings.ts";
import type { ContextMessage, Sys } from "../../abi/sys.ts";
import type { ToolResult } from "../../abi/tool.ts";
import { abortable } from "../../lib/abort.ts";
import { retryWords, switchWords } from "../../lib/text/model-words.ts";
import { type AgentOptions, agentProgram } from "../loop.ts";
import { FakeOutputs } from "./fake-outputs.ts";
import { eventsOf, reply } from "./replies.ts";

export type Answer = Reply | Error | ((request: LlmRequest) => Reply | Error) | StreamedReply;

/** A reply that comes in parts: the first blocks, then, once it is called, all of it, or what broke it. */
export class StreamedReply {
  readonly blocks: readonly Block[];
  readonly rest: () => Promise<Reply | Error>;

  constructor(blocks: readonly Block[], rest: () => Promise<Reply | Error>) {
    this.blocks = blocks;
    this.rest = rest;
  }
}

export interface FakeTool {
  readonly parallel?: boolean;
  /** Its call is journalled before it runs. */
  readonly hasEffect?: boolean;
  run(input: unknown, signal: AbortSignal): ToolResult | Promise<ToolResult>;
}

export type Kept =
  | { readonly kind: "state"; readonly state: unknown }
  | { readonly kind: "part"; readonly part: unknown }
  | { readonly kind: "effect" }
  | { readonly kind: "message"; readonly message: ContextMessage };

/** A process as the next daemon has it, when all but `history` is lost. */
export function restoredFrom(history: readonly Kept[]): Pick<FakeOptions, "restored" | "said"> {
  const at = history.findLastIndex(({ kind }) => kind === "state");
  const last = history[at];
  const since = history.slice(at + 1).filter((each) => each.kind === "part" || each.kind === "effect");
  const said = history.flatMap((each) => (each.kind === "message" ? [each.message] : []));
  return { restored: { state: last?.kind === "state" ? last.state : null, since }, said };
}

export interface FakeOptions {
  /** Default: `do it`. One that begins with / may call a skill. */
  readonly intent?: string;
  readonly answers: readonly Answer[];
  /** Models that the user may choose, as `fallbacks`. */
  readonly others?: Readonly<Record<string, readonly Answer[] | Fault>>;
  /** Other models by their device, and what they answer; an error: they cannot be opened. */
  readonly fallbacks?: Readonly<Record<string, readonly Answer[] | Fault>>;
  readonly tools?: Readonly<Record<string, FakeTool>>;
  readonly agent?: AgentInfo | null;
  readonly systemPrompt?: string;
  readonly maxSteps?: number;
  readonly budget?: number;
  /** The process is ended before this system call, from 1. */
  readonly abortAtCall?: number;
  /** From then on its handle does nothing, as after KILL. */
  readonly revokeOnAbort?: boolean;
  /** What comes at fd 0, read by read. */
  readonly input?: readonly Uint8Array[];
  readonly restored?: Restored;
  /** What the context holds beside the intent, after a restart. */
  readonly said?: readonly ContextMessage[];
  readonly program?: Partial<AgentOptions>;
  /** Absent: it is not told of any, as in old histories. */
  readonly surroundings?: Surroundings;
  readonly window?: WindowFacts;
  readonly nearby?: (dirs: readonly string[]) => Nearby;
}

const INPUT_FD = asFd(0);
const MODEL_FD = asFd(3);
export const MODEL_DEVICE = "/dev/llm/fake";

export class FakeProcess {
  readonly messages: ContextMessage[];
  /** What would outlive the daemon, in order. */
  readonly history: Kept[] = [];
  /** Messages that wait. */
  readonly mail: Message[] = [];
  readonly outputs = new FakeOutputs();
  /** What the user has chosen last. */
  chosen: ChosenModel | null = null;
  paused: PromiseWithResolvers<void> | null = null;
  readonly requests: LlmRequest[] = [];
  /** `Open /bin/view`, `Write 4`, `Read 4 1048576` … */
  readonly trace: string[] = [];
  readonly logs: string[] = [];
  /** What who follows is told of calls that reach no file, and of words beside calls. */
  readonly called: CallNote[] = [];
  readonly said: string[] = [];
  readonly replied: Reply[] = [];
  readonly offers: (ForkOffer | null)[] = [];
  readonly steps: number[] = [];
  readonly activities: Activity[] = [];
  readonly sleeps: number[] = [];
  /** Proposed views; the messages stay as they are. */
  readonly moves: ContextMove[] = [];
  readonly measures: Measures[] = [];
  readonly openFds = new Set<Fd>();
  readonly sys: Sys;
  readonly start: ProgramStart;
  result = "";
  used = 0;
  calls = 0;
  readonly #options: FakeOptions;
  readonly #abort = new AbortController();
  /** What the models behind open fds answer. */
  readonly #models = new Map<Fd, Answer[]>();
  readonly #unread = new Map<Fd, Uint8Array>();
  readonly #tools = new Map<Fd, FakeTool>();
  readonly #input: Uint8Array[];
  /** Set while a reply comes in parts: resolves at its next part or its end. */
  readonly #streams = new Map<Fd, PromiseWithResolvers<boolean>>();
  #nextFd = 4;
  #mono = 0;

  constructor(options: FakeOptions) {
    this.#options = options;
    this.messages = [{ role: "user", content: options.intent ?? "do it" }, ...(options.said ?? [])];
    this.#models.set(MODEL_FD, [...options.answers]);
    this.#input = [...(options.input ?? [])];
    this.sys = this.#makeSys();
    this.start = this.#makeStart();
  }

  run(): Promise<ExitStatus> {
    return agentProgram({ platform: "linux", ...this.#options.program })(this.sys, this.start);
  }

  end(): void {
    this.#abort.abort();
  }

  pause(): void {
    this.paused ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.paused?.resolve();
    this.paused = null;
  }

  receive(from: number, text: string): void {
    const data = new TextEncoder().encode(text);
    this.mail.push({ seq: this.mail.length + 1, from: asPid(from), to: asPid(1), data, sentAt: 0 });
  }

  #makeStart(): ProgramStart {
    const { agent = null, maxSteps = 0, input, restored = null } = this.#options;
    const others = Object.keys(this.#options.fallbacks ?? {});
    const fallbacks = others.map((device) => ({ device, model: device.replace(/.*\//, "") }));
    return {
      pid: asPid(1),
      ctxId: asCtxId(1),
      intent: this.#options.intent ?? "do it",
      agent,
      cwd: "/home/ada/project",
      modelFd: MODEL_FD,
      modelDevice: MODEL_DEVICE,
      model: "",
      ...(others.length === 0 ? {} : { fallbacks }),
      maxSteps,
      input: input === undefined ? null : INPUT_FD,
      mounts: [],
      restored,
      session: null,
      chosen: 0,
      ...(this.#options.intent === undefined ? {} : { slash: true }),
      ...(this.#options.surroundings === undefined ? {} : { surroundings: true }),
      ...(this.#options.window === undefined ? {} : { window: this.#options.window }),
      early: true,
      ownAgents: true,
    };
  }

  #makeSys(): Sys {
    const notHere = (): never => {
      throw new Error("not part of this fake");
    };
    const refused = async (): Promise<never> => notHere();
    return {
      getPid: () => asPid(1),
      ending: this.#abort.signal,
      onStep: (step) => this.steps.push(step),
      called: (note) => this.called.push(note),
      said: (text) => this.said.push(text),
      replied: (reply) => this.replied.push(reply),
      retries: (retry) => this.logs.push(retryWords(retry)),
      switches: (change) => this.logs.push(switchWords(change)),
      setActivity: (activity) => this.activities.push(activity),
      setResult: (text) => {
        this.result = text;
      },
      log: (_level, message) => this.logs.push(message),
      hasMail: () => this.mail.length > 0,
      isPaused: () => this.paused !== null,
      waitIfPaused: async () => {
        this.#abort.signal.throwIfAborted();
        while (this.paused !== null) await abortable(this.paused.promise, this.#abort.signal);
      },
      standing: () => "",
      chosenModel: () => this.chosen,
      hasViewRequest: () => false,
      viewRequest: refused,
      viewAnswer: notHere,
      offerFork: (offer) => {
        this.offers.push(offer);
      },
      offerAside: () => {},
      mayDoAside: () => true,
      account: () => ({ limit: this.#options.budget ?? 0, used: this.used, reserved: 0 }),
      now: () => Date.UTC(2026, 10, 21, 12),
      mono: () => this.#mono,
      today: () => "2026-11-21",
      random: () => 0.5,
      ahead: (fd, signal) => this.#ahead(fd, signal),
      delay: async (ms, signal) => {
        signal?.throwIfAborted();
        this.sleeps.push(ms);
        this.#mono += ms;
      },
      checkpoint: (state) => this.history.push({ kind: "state", state }),
      measured: (change) => this.measures.push(change),
      addToCheckpoint: (part) => this.history.push({ kind: "part", part }),
      // as in the journal: each message is a record of its own, and a daemon may die between two of them
      unit: (act) => act(),
      beginRun: notHere,
      joinRun: notHere,
      isQueued: notHere,
      reply: notHere,
      endRun: refused,
      spawn: refused,
      kill: refused,
      wait: refused,
      ended: refused,
      detach: refused,
      listProcs: refused,
      exit: refused,
      reap: refused,
      ctxAlloc: refused,
      ctxRead: refused,
      ctxWrite: refused,
      ctxFree: refused,
      setSystemPrompt: refused,
      ctxView: async () => ({
        head: 0,
        view: { put: null, keep: [], clears: [], tailFrom: 1 },
        numbers: this.messages.map((_, i) => i + 1),
        records: this.messages.length,
        undoable: 0,
        pins: [],
      }),
      ctxMove: async (_cid, move) => {
        this.moves.push(move);
        return this.moves.length;
      },
      ctxUndo: refused,
      ctxPin: refused,
      ctxUnpin: refused,
      signal: refused,
      sigBlock: refused,
      sigUnblock: refused,
      sigHandle: refused,
      joinGroup: refused,
      leaveGroup: refused,
      getProcGroup: refused,
      signalGroup: refused,
      send: refused,
      recv: () =>
        this.#call("Recv", undefined, () => {
          const message = this.mail.shift();
          if (message === undefined) throw fault("Recv", noMessage());
          return message;
        }),
      sleep: refused,
      pipe: refused,
      spawnThread: refused,
      joinThread: refused,
      cancelThread: refused,
      listThreads: refused,
      spawnCoroutine: refused,
      resumeCoroutine: refused,
      cancelCoroutine: refused,
      spawnSupervisor: refused,
      mount: refused,
      unmount: refused,
      unmountAll: refused,
      surroundings: async () => this.#options.surroundings ?? notHere(),
      nearby: (dirs) =>
        this.#call(`Nearby ${dirs.join(" ")}`, undefined, () => this.#options.nearby?.(dirs) ?? notHere()),
      open: (path, flags, signal) => this.#call(`Open ${path} ${flags}`, signal, () => this.#open(path)),
      read: (fd, length, signal) => this.#call(`Read ${fd} ${length}`, signal, () => this.#read(fd, length)),
      write: (fd, bytes, signal) =>
        this.#call(`Write ${fd}`, signal, () => this.#write(fd, bytes, signal ?? this.#abort.signal)),
      close: (fd) =>
        this.#call(`Close ${fd}`, undefined, () => {
          this.openFds.delete(fd);
          this.outputs.close(fd);
        }),
      stat: (path) =>
        this.#call(`Stat ${path}`, undefined, () => {
          if (FakeOutputs.holds(path)) return this.outputs.stat(path);
          const { name, tool } = this.#find(path, "Stat");
          const parallel = tool.parallel ?? false;
          const face = { name, description: `${name}.`, inputSchema: { type: "object" }, parallel };
          return {
            name,
            size: 0,
            isDevice: true,
            devicePath: "/bin",
            tool: { ...face, maxResultChars: 100_000 },
          };
        }),
      appendMessage: (_cid, role, content, blocks, media) =>
        this.#call(`AppendMessage ${role}`, undefined, () => {
          this.#keep({ role, content, ...(blocks && { blocks }), ...(media && { media }) });
        }),
      appendToolResult: (_cid, id, content, isError, media) =>
        this.#call(`AppendToolResult ${id}`, undefined, () => {
          const more = { ...(isError && { is_error: true }), ...(media && { media }) };
          this.#keep({ role: "tool", content, tool_call_id: id, ...more });
        }),
      buildPrompt: () =>
        this.#call("BuildPrompt", undefined, () => ({
          systemPrompt: this.#options.systemPrompt ?? "",
          messages: [...this.messages],
        })),
    };
  }

  async #call<T>(name: string, signal: AbortSignal | undefined, act: () => T | Promise<T>): Promise<T> {
    this.calls++;
    this.trace.push(name);
    if (this.calls === this.#options.abortAtCall) this.#abort.abort();
    if (signal?.aborted || (this.#options.revokeOnAbort && this.#abort.signal.aborted)) throw cancelled(name);
    return await act();
  }

  #find(path: string, op: string): { name: string; tool: FakeTool } {
    const name = path.replace("/bin/", "");
    const tool = this.#options.tools?.[name];
    if (tool === undefined)
      throw fault(op, new DriverError({ code: "NOT_FOUND", op, message: missing(name) }));
    return { name, tool };
  }

  #keep(message: ContextMessage): void {
    this.messages.push(message);
    this.history.push({ kind: "message", message });
  }

  #open(path: string): Fd {
    const model = this.#options.fallbacks?.[path] ?? this.#options.others?.[path];
    if (model instanceof Fault) throw fault("Open", model);
    const isTool = model === undefined && !FakeOutputs.holds(path);
    const tool = isTool ? this.#find(path, "Open").tool : undefined;
    const fd = asFd(this.#nextFd++);
    this.openFds.add(fd);
    if (model !== undefined) {
      this.#models.set(fd, [...model]);
      return fd;
    }
    if (tool === undefined) this.outputs.open(fd, path);
    else this.#tools.set(fd, tool);
    return fd;
  }

  async #write(fd: Fd, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.outputs.isOpen(fd)) return this.outputs.write(fd, bytes);
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const tool = this.#tools.get(fd);
    if (tool === undefined) return this.#answer(fd, value as LlmRequest, signal);
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(cancelled("Write")), { once: true });
    });
    if (tool.hasEffect === true) this.history.push({ kind: "effect" });
    const result = await Promise.race([tool.run(value, signal), aborted]);
    this.#unread.set(fd, encodeLines([{ type: "result", result }]));
  }

  /** true: the first part is there, and was not read yet. */
  async #ahead(fd: Fd, signal: AbortSignal): Promise<boolean> {
    const stream = this.#streams.get(fd);
    if (stream === undefined) return false;
    if ((this.#unread.get(fd)?.byteLength ?? 0) > 0) return true;
    return abortable(stream.promise, signal).catch(() => false);
  }

  async #stream(fd: Fd, { blocks, rest }: StreamedReply, signal: AbortSignal): Promise<void> {
    const begun = eventsOf(reply(blocks)).slice(0, 1 + 2 * blocks.length);
    this.#unread.set(fd, encodeLines(begun));
    const stream = Promise.withResolvers<boolean>();
    this.#streams.set(fd, stream);
    try {
      const whole = await abortable(rest(), signal);
      if (whole instanceof Error) throw whole instanceof Fault ? fault("Write", whole) : whole;
      this.used += totalTokens(whole.usage);
      const unread = this.#unread.get(fd) ?? new Uint8Array();
      const more = encodeLines(eventsOf(whole).slice(begun.length));
      this.#unread.set(fd, new Uint8Array([...unread, ...more]));
    } finally {
      this.#streams.delete(fd);
      stream.resolve(false);
    }
  }

  #answer(fd: Fd, request: LlmRequest, signal: AbortSignal): void | Promise<void> {
    this.requests.push(request);
    const next = this.#models.get(fd)?.shift();
    if (next === undefined) throw new Error("the script of the fake model is at its end");
    if (next instanceof StreamedReply) return this.#stream(fd, next, signal);
    const answer = typeof next === "function" ? next(request) : next;
    if (answer instanceof Error) throw answer instanceof Fault ? fault("Write", answer) : answer;
    this.used += totalTokens(answer.usage);
    this.#unread.set(fd, encodeLines(eventsOf(answer)));
  }

  #read(fd: Fd, length: number): Uint8Array {
    if (fd === INPUT_FD) return this.#input.shift() ?? new Uint8Array();
    const unread = this.#unread.get(fd) ?? new Uint8Array();
    this.#unread.set(fd, unread.slice(length));
    return unread.slice(0, length);
  }
}

function encodeLines(values: readonly unknown[]): Uint8Array {
  return new TextEncoder().encode(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}

function noMessage(): Fault {
  return new DriverError({ code: "TIMEOUT", op: "Recv", message: "no message is there" });
}

function missing(name: string): string {
  return `tool not found: ${name}. Similar: view`;
}

/** As the VFS wraps what a device throws. */
function fault(op: string, cause: Fault): VfsError {
  const { code, message, hint } = cause;
  return new VfsError({
    op,
    pid: asPid(1),
    code,
    message,
    device: cause.device ?? MODEL_DEVICE,
    hint,
    cause,
  });
}

function cancelled(name: string): VfsError {
  return new VfsError({
    op: name.split(" ")[0] ?? "",
    pid: asPid(1),
    code: "CANCELLED",
    message: "cancelled",
  });
}
