/**
 * Shows the events of a session in the console's mode, both to a client that converses and to one that only follows.
 */
import type { IdleEvent, InputEvent, QueuedEvent, WireEvent } from "../../abi/wire-events.ts";
import { findShellNote } from "../../lib/text/shell-line.ts";
import type { Console } from "../console.ts";
import { RunView } from "../run/run-view.ts";
import {
  idleLine,
  inputLine,
  modeLine,
  pausedLine,
  queuedLine,
  withdrawnLine,
} from "../screen/chat-lines.ts";
import { hintLine } from "../screen/errors.ts";
import { runErrorLine } from "../screen/run-lines.ts";
import { oneLine } from "../screen/text/json.ts";
import { safeLines } from "../screen/text/safe-text.ts";
import { brokenAtBlanks } from "../screen/text/width.ts";

interface ChatOutput {
  readonly isTerminal: boolean;
  /** The name of this client, whose own input is already on the screen. undefined: it sends no input. */
  readonly client: string | undefined;
  /** One event per line, for a program. */
  readonly isEvents: boolean;
  /** stdout carries only the replies; the screen is on stderr. */
  readonly isResultAlone: boolean;
}

export class ChatView {
  readonly #console: Console;
  readonly #output: ChatOutput;
  readonly #run: RunView;

  constructor(console: Console, output: ChatOutput) {
    this.#console = console;
    this.#output = output;
    this.#run = new RunView(console, output);
  }

  async show(event: WireEvent): Promise<void> {
    if (this.#output.isEvents) return this.#console.line(oneLine(event));
    const words = this.#console.catalogue;
    switch (event.event) {
      case "spawn":
        await this.#run.show(event);
        // a conversation has no final line that would show the notice
        if (event.notice !== undefined) for (const line of words.login.ways) await this.#screen(line);
        break;
      case "input":
        if (!this.#isMine(event)) await this.#screen(inputLine(event, words));
        break;
      case "queued":
        // it starts no run, and was shown when it ran
        if (findShellNote(event.text) !== undefined) break;
        await this.#screen(queuedLine(event, this.#isMine(event), words));
        break;
      case "withdrawn":
        await this.#screen(withdrawnLine(event, words));
        break;
      case "paused":
        await this.#screen(pausedLine(event, words));
        break;
      case "mode":
        await this.#screen(modeLine(event));
        break;
      case "reply":
        await this.#reply(event.text);
        break;
      case "idle":
        await this.#idle(event);
        break;
      default:
        await this.#run.show(event);
    }
  }

  /** As for a run: the exit code when the events broke off. `session`: the pid of the session, if it is one. */
  cutOff(session?: number): Promise<number> {
    return this.#run.cutOff(session);
  }

  #isMine({ from, client }: InputEvent | QueuedEvent): boolean {
    return from === 0 && client === this.#output.client;
  }

  async #screen(text: string): Promise<void> {
    if (!this.#console.isScreen) return;
    const { room = Number.POSITIVE_INFINITY } = this.#console;
    if (this.#output.isResultAlone) await this.#console.errorLine(text);
    else await this.#console.line(brokenAtBlanks(text, room));
  }

  async #reply(text: string): Promise<void> {
    const words = text.replace(/(?:\r?\n)+$/, "");
    if (words === "" || this.#console.mode === "quiet") return;
    await this.#console.text(this.#output.isTerminal ? safeLines(words) : words);
  }

  async #idle(event: IdleEvent): Promise<void> {
    const { mode, words, errorPaint, paint } = this.#console;
    const { result, message = "", outcome } = event;
    if (mode === "quiet" && result !== "")
      await this.#console.text(this.#output.isTerminal ? safeLines(result) : result);
    if (outcome !== "completed" && outcome !== "interrupted") {
      await this.#console.errorLine(errorPaint.red(runErrorLine(event.pid, message)));
      if (event.error?.hint !== undefined) await this.#console.errorLine(hintLine(event.error.hint, words));
    }
    const painted = this.#output.isResultAlone ? errorPaint : paint;
    await this.#screen(idleLine(event, painted, this.#console.catalogue));
  }
}
