/**
 * Questions of the gate to the user. The first valid answer counts; no answer never allows. A question is recorded
 * before it is shown, and its answer before it takes effect. If no client of the session can answer, no question is
 * asked, and the caller denies. A client that has left may return; its questions wait for it, for the time in the
 * settings.
 */
import type { AskAnswer, AskReply } from "../../abi/ask.ts";
import { SyscallError } from "../../abi/errors.ts";
import type { Detail, ProcessEvent } from "../../abi/events.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { AskEvent, AskedQuestion } from "../../abi/wire-events.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { Session } from "../../kernel/process/session.ts";
import { ABORTED, abortable } from "../../lib/abort.ts";

export interface PersonAnswer extends AskReply {
  readonly answer: AskAnswer;
  /** The user's text with a no, for the model. */
  readonly words: string;
  /** Present if the user did not answer: the reason. */
  readonly nobody?: string;
}

export interface AskHooks {
  /** Of a question that is asked without one in its event: after a restart of the daemon it keeps its id. */
  readonly digest?: string;
  /** Records the question before it is shown. If it rejects, the question is not asked. */
  readonly open?: (ask: AskEvent) => Promise<void>;
  /**
   * Records the answer before it takes effect. If it rejects, the answer does not count and the question stays open.
   * Returns a note for the user; "": none.
   */
  readonly close?: (ask: AskEvent, reply: AskReply, by: GrantBy) => Promise<string>;
  /** Called when the question is closed without an answer of the user. */
  readonly drop?: (ask: AskEvent, why: string) => void;
}

interface Asking extends AskHooks {
  /** Cancels the waiting call. */
  readonly signal: AbortSignal;
}

interface Open {
  readonly ask: AskEvent;
  readonly proc: Process;
  readonly session: Session;
  readonly hooks: AskHooks;
  readonly answered: PromiseWithResolvers<PersonAnswer>;
  /** Fires when the question is closed. */
  readonly closed: AbortController;
  /** The number of calls that wait for the answer. */
  waiting: number;
  state: "opening" | "queued" | "shown" | "claimed";
}

/** The answer when the last client that could answer has left. */
const NOBODY: PersonAnswer = {
  answer: "no",
  words: "the client that could answer went away",
  nobody: "no person is attached who could answer",
};

const SOMEBODY: GrantBy = { principal: "user", client: "", uid: null };

type Ports = Pick<KernelPorts, "nonce" | "clock" | "askTimeouts">;

export class Asks {
  readonly #ports: Ports;
  /** Open questions by id, in the order in which they were asked. */
  readonly #open = new Map<string, Open>();
  /** Ids of recently closed questions, oldest first. */
  readonly #closed = new Set<string>();
  /** Timers of sessions with open questions whose clients have all left. */
  readonly #detached = new Map<Session, AbortController>();

  /** Ids of questions that an earlier daemon left open, by digest. */
  readonly #left = new WeakMap<Process, Map<string, string>>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Registers the open questions of a restored process (id, digest). A question that is asked again keeps its id. */
  leftOpen(proc: Process, asks: Iterable<readonly [string, string]>): void {
    this.#left.set(proc, new Map([...asks].map(([id, digest]) => [digest, id])));
  }

  /** Whether a question of this process can reach the user, now or when a client returns. */
  canAsk({ seed }: Process): boolean {
    const { approvers } = seed.session;
    if (this.#open.size >= LIMITS.heldAsks) return false;
    return approvers.isHeard || (approvers.leftMono !== null && this.#leftMs(approvers.leftMono) > 0);
  }

  /** Follows a process as a client that can answer: it receives the open questions, too. */
  attend({ watchers, seed }: Process, detail?: Detail): Subscription<ProcessEvent> {
    const { session } = seed;
    const approving = { approvers: session.approvers, now: () => this.#ports.clock.mono() };
    const events = watchers.watch(approving, detail);
    for (const open of this.#of(session))
      if (open.state === "shown" || open.state === "claimed") events.push(open.ask);
    return events;
  }

  /** Asks the user. Equal questions of the same process (by digest) share one question. */
  async ask(proc: Process, question: AskedQuestion, { signal, ...hooks }: Asking): Promise<PersonAnswer> {
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
   * Resolves once the answer is recorded, with a note for the user. CONFLICT: already answered or void. NOT_FOUND: no
   * such question. INVALID: not an option of this question.
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

  /** Denies all questions of a session, as no client will answer them. */
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

  #begin(proc: Process, question: AskedQuestion, hooks: AskHooks): Open {
    const { session } = proc.seed;
    const askId = this.#idOf(proc, question.digest ?? hooks.digest);
    const ask: AskEvent = { event: "ask", pid: proc.pid, ask_id: askId, ...question };
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

  /** The id of the question: that of the earlier daemon if it left this question open, otherwise a new one. */
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

  /** Shows at most `LIMITS.openAsks` questions at a time; the rest wait in order. */
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
    open.session.approvers.publish(open.ask);
    const { askMs } = this.#timeouts();
    if (askMs > 0)
      this.#after(askMs, open.closed.signal, () =>
        this.#deny(open, nobody(`nobody answered within ${Math.round(askMs / 1000)} s`)),
      );
  }

  /**
   * Starts or stops the session's timeout after a change of its clients or questions: it runs while no client can
   * answer.
   */
  #look(session: Session): void {
    const { isHeard, leftMono } = session.approvers;
    const isWaiting = leftMono !== null && !isHeard && this.#of(session).length > 0;
    const timer = this.#detached.get(session);
    if (isWaiting === (timer !== undefined)) return;
    timer?.abort(ABORTED);
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

  /** Denies a question, unless an answer to it is being recorded. */
  #deny(open: Open, answer: PersonAnswer): void {
    if (open.state === "claimed") return;
    open.answered.resolve(answer);
    this.#drop(open, answer.answer, answer.words);
  }

  /** Closes a question without an answer of the user. */
  #drop(open: Open, answer: AskAnswer | null, why: string): void {
    if (open.closed.signal.aborted) return;
    if (open.state !== "claimed") open.hooks.drop?.(open.ask, why);
    this.#close(open, answer);
  }

  #close(open: Open, answer: AskAnswer | null): void {
    const { ask_id: askId } = open.ask;
    if (open.closed.signal.aborted) return;
    open.closed.abort(ABORTED);
    this.#open.delete(askId);
    this.#closed.add(askId);
    const [oldest] = this.#closed;
    if (this.#closed.size > LIMITS.answeredAsks && oldest !== undefined) this.#closed.delete(oldest);
    if (open.state === "shown" || open.state === "claimed")
      open.session.approvers.publish({ event: "ask_closed", pid: open.proc.pid, ask_id: askId, answer });
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

function failed(code: "NOT_FOUND" | "INVALID" | "CONFLICT", message: string): SyscallError {
  return new SyscallError({ syscall: "Answer", pid: PID_KERNEL, code, message });
}
