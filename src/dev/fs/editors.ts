/** The editors that clients have opened for sessions, and what they are asked. */
import { randomUUID } from "node:crypto";
import { Fault } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import type { EditorAnswer, EditorDesk, EditorLink, EditorRequest } from "../../kernel/ports/editors.ts";
import { cancelled, driverError } from "../driver-error.ts";

/** How long an editor may take for one file, in ms. */
const ANSWER_MS = 10_000;
/** Requests that wait for one editor; more are refused. */
const MAX_OPEN = 64;

/** The files of one editor. */
export interface EditorFiles {
  /** undefined: the editor does not know the file, or has left. */
  read?(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Rejects: the editor has not said that it wrote. */
  write?(path: string, text: string, signal: AbortSignal): Promise<void>;
}

type Asked =
  | { readonly op: "read"; readonly path: string }
  | { readonly op: "write"; readonly path: string; readonly text: string };

interface EditorParts {
  readonly clock: Pick<Clock, "sleep">;
  /** The session that a process belongs to. */
  sessionOf(pid: Pid): Pid;
}

interface Open {
  readonly send: (request: EditorRequest) => Promise<boolean>;
  readonly files: EditorFiles;
  /** Ends what waits for an answer. */
  readonly left: AbortController;
  waiting: number;
}

export class Editors implements EditorDesk {
  readonly #parts: EditorParts;
  readonly #open = new Map<Pid, Open>();
  readonly #asked = new Map<string, (answer: EditorAnswer) => void>();

  constructor(parts: EditorParts) {
    this.#parts = parts;
  }

  serve(
    pid: Pid,
    { reads, writes }: Parameters<EditorDesk["serve"]>[1],
    send: (request: EditorRequest) => Promise<boolean>,
  ): EditorLink {
    this.#open.get(pid)?.left.abort();
    const files: EditorFiles = {
      ...(reads && { read: (path, signal) => this.#read(open, path, signal) }),
      ...(writes && { write: (path, text, signal) => this.#write(open, { path, text }, signal) }),
    };
    const open: Open = { send, files, left: new AbortController(), waiting: 0 };
    this.#open.set(pid, open);
    return {
      close: () => {
        open.left.abort();
        if (this.#open.get(pid) === open) this.#open.delete(pid);
      },
    };
  }

  answer(id: string, answer: EditorAnswer): void {
    const take = this.#asked.get(id);
    if (take === undefined) throw new Fault({ code: "NOT_FOUND", message: `no open request: ${id}` });
    take(answer);
  }

  /** undefined: no editor shows the files of this process. */
  find(pid: Pid): EditorFiles | undefined {
    return this.#open.size === 0 ? undefined : this.#open.get(this.#parts.sessionOf(pid))?.files;
  }

  async #read(open: Open, path: string, signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.#ask(open, { op: "read", path }, signal);
    return answer === undefined || answer.error !== undefined ? undefined : answer.text;
  }

  async #write(open: Open, { path, text }: { path: string; text: string }, signal: AbortSignal) {
    const answer = await this.#ask(open, { op: "write", path, text }, signal);
    const error = answer === undefined ? "the editor left before it answered" : answer.error;
    if (error !== undefined)
      throw driverError("Write", "UNAVAILABLE", `the editor did not write ${path}: ${error}`);
  }

  /** undefined: the editor has left. UNAVAILABLE: it does not answer. */
  async #ask(open: Open, asked: Asked, signal: AbortSignal): Promise<EditorAnswer | undefined> {
    const op = asked.op === "read" ? "Read" : "Write";
    if (open.waiting >= MAX_OPEN) throw driverError(op, "UNAVAILABLE", "the editor has too much to answer");
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<EditorAnswer | undefined>();
    const over = new AbortController();
    const until = AbortSignal.any([signal, open.left.signal, over.signal]);
    const late = this.#parts.clock.sleep(ANSWER_MS, until).then(
      () => "late" as const,
      () => undefined,
    );
    open.waiting++;
    this.#asked.set(id, resolve);
    try {
      if (open.left.signal.aborted || !(await open.send({ id, ...asked }))) return undefined;
      const answer = await Promise.race([promise, late]);
      if (signal.aborted) throw cancelled(op);
      if (answer === "late")
        throw driverError(op, "UNAVAILABLE", `the editor did not answer in ${ANSWER_MS / 1_000} s`);
      return answer;
    } finally {
      this.#asked.delete(id);
      open.waiting--;
      over.abort();
    }
  }
}
