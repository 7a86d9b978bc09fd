/**
 * Questions of the gate to a person. The first valid answer wins; silence never allows. Without a client that can answer,
 * nothing is asked: the caller denies.
 */
import { SyscallError } from "../../abi/errors.ts";
import type { Ask, AskAnswer } from "../../abi/events.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { abortable } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import type { Session } from "../process/session.ts";

export interface Answer {
  readonly answer: AskAnswer;
  /** What the person said with a no, for the model. */
  readonly words: string;
}

interface Open {
  readonly ask: Ask;
  readonly session: Session;
  readonly settle: (answer: Answer) => void;
}

/** No person's no: the last client that could answer went away. */
export const NOBODY: Answer = { answer: "no", words: "the client that could answer went away" };

export class Asks {
  readonly #open = new Map<string, Open>();
  /** Closed not long ago, oldest first. */
  readonly #closed = new Set<string>();
  readonly #nonce: () => string;

  constructor(nonce: () => string) {
    this.#nonce = nonce;
  }

  /** Can a question of this process reach a person now? */
  canAsk(proc: Process): boolean {
    return proc.seed.session.canAsk && this.#open.size < LIMITS.openAsks;
  }

  async ask(
    proc: Process,
    question: Pick<Ask, "text" | "detail" | "options">,
    signal: AbortSignal,
  ): Promise<Answer> {
    const askId = `a_${this.#nonce()}`;
    const ask: Ask = { askId, pid: proc.pid, ...question };
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const { session } = proc.seed;
    this.#open.set(askId, { ask, session, settle: resolve });
    proc.openAsks++;
    let answer: AskAnswer | null = null;
    try {
      session.approvers?.publish({ event: "ask", pid: proc.pid, ask });
      const given = await abortable(promise, signal);
      answer = given.answer;
      return given;
    } finally {
      this.#close(askId);
      proc.openAsks--;
      session.approvers?.publish({ event: "ask_closed", pid: proc.pid, askId, answer });
    }
  }

  answer(askId: string, answer: AskAnswer, words: string): void {
    const open = this.#open.get(askId);
    if (open === undefined && this.#closed.has(askId))
      throw failed("CONFLICT", `already answered or void: ${askId}`);
    if (open === undefined) throw failed("NOT_FOUND", `no open question: ${askId}`);
    if (!open.ask.options.includes(answer)) throw failed("INVALID", `not an option here: ${answer}`);
    this.#close(askId);
    open.settle({ answer, words });
  }

  /** The last client of a session went away: its questions are denied. */
  abandon(session: Session): void {
    for (const [askId, open] of this.#open) {
      if (open.session !== session) continue;
      this.#close(askId);
      open.settle(NOBODY);
    }
  }

  #close(askId: string): void {
    this.#open.delete(askId);
    this.#closed.add(askId);
    const [oldest] = this.#closed;
    if (this.#closed.size > LIMITS.answeredAsks && oldest !== undefined) this.#closed.delete(oldest);
  }
}

function failed(code: "NOT_FOUND" | "INVALID" | "CONFLICT", message: string): SyscallError {
  return new SyscallError({ syscall: "Answer", pid: PID_KERNEL, code, message });
}
