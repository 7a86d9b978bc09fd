/**
 * Questions of the gate to a person. The first valid answer wins; silence never allows. A question is journalled before it is
 * shown, and its answer before anybody hears of it. Where no client of the session can answer, nothing is asked: the caller
 * denies. A client that has left may come back; its questions wait for it, as long as the settings say.
 */
import { SyscallError } from "../../abi/errors.ts";
import type { Ask, AskAnswer, AskReply, ProcessEvent } from "../../abi/events.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { Session } from "../../kernel/process/session.ts";
import { abortable } from "../../lib/abort.ts";

export interface PersonAnswer extends AskReply {
  readonly answer: AskAnswer;
  /** What the person said with a no, for the model. */
  readonly words: string;
  /** No person's no: why nobody answered. */
  readonly nobody?: string;
}

export type Asked = Omit<Ask, "askId" | "pid">;

export interface AskHooks {
  /** Keeps the question, before it is shown. Rejects: it is not asked. */
  readonly open?: (ask: Ask) => Promise<void>;
  /** Keeps the answer, before it holds. Rejects: it is none, and the question stays. What the person must know; "": nothing. */
  readonly close?: (ask: Ask, reply: AskReply, by: GrantBy) => Promise<string>;
  /** Nobody answers it any more. */
  readonly drop?: (ask: Ask, why: string) => void;
}

interface Asking extends AskHooks {
  /** With it the call that waits is given up. */
  readonly signal: AbortSignal;
}

interface Open {
  readonly ask: Ask;
  readonly proc: Process;
  readonly session: Session;
  readonly hooks: AskHooks;
  readonly answered: PromiseWithResolvers<PersonAnswer>;
  /** Fires when it is closed. */
  readonly closed: AbortController;
  /** Calls that wait for it. */
  waiting: number;
  state: "opening" | "queued" | "shown" | "claimed";
}

/** The last client that could answer went away. */
const NOBODY: PersonAnswer = {
  answer: "no",
  words: "the client that could answer went away",
  nobody: "no person is attached who could answer",
};

const SOMEBODY: GrantBy = { principal: "user", client: "", uid: null };

type Ports = Pick<KernelPorts, "nonce" | "clock" | "askTimeouts">;

export class Asks {
  readonly #ports: Ports;
  /** In the order in which they were asked. */
  readonly #open = new Map<string, Open>();
  /** Closed not long ago, oldest first. */
  readonly #closed = new Set<string>();
  /** Sessions with questions whose clients have all left. */
  readonly #detached = new Map<Session, AbortController>();

  /** Those that an earlier daemon left open, by digest. */
  readonly #left = new WeakMap<Process, Map<string, string>>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Of a process that was brought back: the digest of each by its id. Asked again, a question keeps its id. */
  leftOpen(proc: Process, asks: Iterable<readonly [string, string]>): void {
    this.#left.set(proc, new Map([...asks].map(([id, digest]) => [digest, id])));
  }

  /** Can a question of this process reach a person, now or when one comes back? */
  canAsk({ seed }: Process): boolean {
    const { approvers } = seed.session;
    if (this.#open.size >= LIMITS.heldAsks) return false;
    return approvers.isHeard || (approvers.leftMono !== null && this.#leftMs(approvers.leftMono) > 0);
  }

  /** Follows a process, as a client that can answer: it gets what is open, too. */
  attend({ watchers, seed }: Process): Subscription<ProcessEvent> {
    const { session } = seed;
    const events = watchers.watch({ approvers: session.approvers, now: () => this.#ports.clock.mono() });
    for (const open of this.#of(session))
      if (open.state === "shown" || open.state === "claimed") events.push(eventOf(open));
    return events;
  }

  /** An equal question of the same process is the same question. */
  async ask(proc: Process, question: Asked, { signal, ...hooks }: Asking): Promise<PersonAnswer> {
    const open = this.#equal(proc, question.digest) ?? this.#begin(proc, question, hooks);
    open.waiting++;
    try {
      return await proc.halt.asking(() => abortable(open.answered.promise, signal));
    } finally {
      open.waiting--;
      if (open.waiting === 0) this.#drop(open, null, "the call was given up");
    }
  }

  /**
   * Resolves once the answer is kept, with what the person must know of it. CONFLICT: it is answered, or void. NOT_FOUND:
   * there is no such question. INVALID: no answer to it.
   */
  async answer(askId: string, reply: AskReply, by: GrantBy = SOMEBODY): Promise<string> {
    const open = this.#open.get(askId);
    if (open === undefined && !this.#closed.has(askId))
      throw failed("NOT_FOUND", `no open question: ${askId.slice(0, 100)}`);
    if (open?.state !== "shown") throw failed("CONFLICT", `already answered or void: ${askId}`);
    if (!open.ask.options.includes(reply.answer))
      throw failed("INVALID", `not an option here: ${reply.answer}`);
    open.state = "claimed";
    const note = await this.#keep(open, reply, by);
    open.answered.resolve({ ...reply, words: reply.words ?? "" });
    this.#close(open, reply.answer);
    return note;
  }

  /** Its questions are denied: nobody will answer them. */
  abandon(session: Session, answer: PersonAnswer = NOBODY): void {
    for (const open of this.#of(session)) this.#deny(open, answer);
  }

  async #keep(open: Open, reply: AskReply, by: GrantBy): Promise<string> {
    try {
      return (await open.hooks.close?.(open.ask, reply, by)) ?? "";
    } catch (error) {
      open.state = "shown";
      throw error;
    }
  }

  #begin(proc: Process, question: Asked, hooks: AskHooks): Open {
    const { session } = proc.seed;
    const askId = this.#idOf(proc, question.digest);
    const ask: Ask = { askId, pid: proc.pid, ...question };
    const answered = Promise.withResolvers<PersonAnswer>();
    answered.promise.catch(() => {});
    const closed = new AbortController();
    const open: Open = { ask, proc, session, hooks, answered, closed, waiting: 0, state: "opening" };
    this.#open.set(askId, open);
    this.#closed.delete(askId);
    closed.signal.addEventListener(
      "abort",
      session.approvers.onChange(() => this.#look(session)),
    );
    if (hooks.open === undefined) this.#enqueue(open);
    else
      hooks.open(ask).then(
        () => this.#enqueue(open),
        (error: unknown) => answered.reject(error),
      );
    return open;
  }

  /** That of the earlier daemon, if it left this question open. */
  #idOf(proc: Process, digest: string | undefined): string {
    const left = this.#left.get(proc);
    const kept = digest === undefined ? undefined : left?.get(digest);
    if (kept === undefined || digest === undefined) return `a_${this.#ports.nonce()}`;
    left?.delete(digest);
    return kept;
  }

  #enqueue(open: Open): void {
    if (open.closed.signal.aborted) return;
    open.state = "queued";
    this.#showNext(open.session);
  }

  /** As many as a person can keep apart; the rest wait in order. */
  #showNext(session: Session): void {
    const all = this.#of(session);
    let shown = all.filter(({ state }) => state === "shown" || state === "claimed").length;
    for (const open of all) {
      if (shown >= LIMITS.openAsks) return;
      if (open.state !== "queued") continue;
      shown++;
      this.#show(open);
    }
    this.#look(session);
  }

  #show(open: Open): void {
    open.state = "shown";
    open.session.approvers.publish(eventOf(open));
    const { askMs } = this.#timeouts();
    if (askMs > 0)
      this.#after(askMs, open.closed.signal, () =>
        this.#deny(open, nobody(`nobody answered within ${Math.round(askMs / 1000)} s`)),
      );
  }

  /** Somebody came or went, or something is asked while nobody is there. */
  #look(session: Session): void {
    const { isHeard, leftMono } = session.approvers;
    const isWaiting = leftMono !== null && !isHeard && this.#of(session).length > 0;
    const timer = this.#detached.get(session);
    if (isWaiting === (timer !== undefined)) return;
    timer?.abort();
    this.#detached.delete(session);
    if (!isWaiting) return;
    const stop = new AbortController();
    this.#detached.set(session, stop);
    this.#after(Math.max(1, this.#leftMs(leftMono)), stop.signal, () => {
      this.#detached.delete(session);
      this.abandon(session);
    });
  }

  #after(ms: number, signal: AbortSignal, act: () => void): void {
    this.#ports.clock.sleep(ms, signal).then(act, () => {});
  }

  #leftMs(leftMono: number): number {
    return leftMono + this.#timeouts().detachedMs - this.#ports.clock.mono();
  }

  #timeouts(): { readonly askMs: number; readonly detachedMs: number } {
    return this.#ports.askTimeouts?.() ?? { askMs: 0, detachedMs: LIMITS.detachedAskMs };
  }

  /** An answer that is just being kept comes first. */
  #deny(open: Open, answer: PersonAnswer): void {
    if (open.state === "claimed") return;
    open.answered.resolve(answer);
    this.#drop(open, answer.answer, answer.words);
  }

  /** Without an answer of a person. */
  #drop(open: Open, answer: AskAnswer | null, why: string): void {
    if (open.closed.signal.aborted) return;
    if (open.state !== "claimed") open.hooks.drop?.(open.ask, why);
    this.#close(open, answer);
  }

  #close(open: Open, answer: AskAnswer | null): void {
    const { askId } = open.ask;
    if (open.closed.signal.aborted) return;
    open.closed.abort();
    this.#open.delete(askId);
    this.#closed.add(askId);
    const [oldest] = this.#closed;
    if (this.#closed.size > LIMITS.answeredAsks && oldest !== undefined) this.#closed.delete(oldest);
    if (open.state === "shown" || open.state === "claimed")
      open.session.approvers.publish({ event: "ask_closed", pid: open.proc.pid, askId, answer });
    this.#showNext(open.session);
  }

  #equal(proc: Process, digest: string | undefined): Open | undefined {
    if (digest === undefined) return undefined;
    return [...this.#open.values()].find((open) => open.proc === proc && open.ask.digest === digest);
  }

  #of(session: Session): readonly Open[] {
    return [...this.#open.values()].filter((open) => open.session === session);
  }
}

function nobody(why: string): PersonAnswer {
  return { answer: "no", words: why, nobody: why };
}

function eventOf({ ask, proc }: Open): ProcessEvent {
  return { event: "ask", pid: proc.pid, ask };
}

function failed(code: "NOT_FOUND" | "INVALID" | "CONFLICT", message: string): SyscallError {
  return new SyscallError({ syscall: "Answer", pid: PID_KERNEL, code, message });
}
