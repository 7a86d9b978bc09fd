import type { WireError } from "../../abi/errors.ts";
import type { CompleteEvent, IdleEvent, SpawnEvent, WireEvent } from "../../abi/wire-events.ts";
import type { Console } from "../console.ts";
import { daemonVanished } from "../daemon/vanished.ts";
import { callLine, childLine } from "../screen/call-line.ts";
import { idleLine, leftLine } from "../screen/chat-lines.ts";
import { failureJson, hintLine } from "../screen/errors.ts";
import { resultBox } from "../screen/result-box.ts";
import {
  answeredLine,
  costLine,
  deniedLines,
  detailsLine,
  failureOf,
  isSaidByCall,
  isSameModel,
  lastLine,
  logLine,
  modeLine,
  type RunOver,
  retryLine,
  runData,
  runErrorLine,
  slotLine,
  spawnLine,
  stallLine,
  stepLine,
  switchLine,
  toolLine,
} from "../screen/run-lines.ts";
import type { Paint } from "../screen/text/paint.ts";
import { safeLine, safeLines } from "../screen/text/safe-text.ts";
import { CONFIGURE_LINES } from "./configure-help.ts";

interface RunOutput {
  /** stdout is a terminal, so a bare result must not contain control sequences. */
  readonly isTerminal: boolean;
  /** stdout carries only the result; the screen is on stderr. */
  readonly isResultAlone: boolean;
  /** JSON output has more than the fixed keys. */
  readonly isVerbose?: boolean;
}

/** Shows the events of one run in the console's mode. */
export class RunView {
  readonly #console: Console;
  readonly #output: RunOutput;
  #error: WireError | undefined;
  #saidError = false;
  #hasNotice = false;
  /** The last reply of a session, held until it is known whether it is the final one, which is the result. */
  #reply = "";
  /** The process whose events are shown. */
  #pid: number | undefined;

  constructor(console: Console, output: RunOutput) {
    this.#console = console;
    this.#output = output;
  }

  async show(event: WireEvent): Promise<void> {
    this.#pid = event.pid;
    switch (event.event) {
      case "spawn":
        await this.#spawn(event);
        break;
      case "step":
        await this.#screen(stepLine(event, this.#verbose));
        break;
      case "tool":
        if (this.#verbose) await this.#screen(toolLine(event));
        break;
      case "call":
        await this.#call((columns) => callLine(event.call, columns, { paint: this.#paint }));
        break;
      case "child":
        await this.#call((columns) => childLine(event, columns, this.#paint));
        break;
      case "said":
        await this.#said(event.text);
        break;
      case "log":
        if (this.#verbose || !this.#console.showsCalls || !isSaidByCall(event))
          await this.#log(event.level, logLine(event));
        break;
      case "api_retry":
        await this.#log("warn", retryLine(event));
        break;
      case "model_switch":
        if (!isSameModel(event)) await this.#log("warn", switchLine(event));
        break;
      case "llm.stall":
        await this.#log("info", stallLine(event));
        break;
      case "sched.waiting":
        await this.#log("info", slotLine(event));
        break;
      case "error":
        await this.#fail(event.pid, event.error_message, event.error);
        break;
      case "complete":
        await this.#complete(event);
        break;
      case "mode":
        await this.#screen(modeLine(event));
        break;
      case "reply":
        this.#reply = event.text;
        break;
      case "ask":
      case "ask_closed":
      // shown by print mode: print/printer.ts
      case "message":
      case "tool_result":
      case "output":
      case "delta":
      case "tombstone":
      case "context.moved":
      // session events: chat/view.ts
      case "paused":
      case "input":
      case "queued":
      case "withdrawn":
      case "idle":
    }
  }

  /**
   * The exit code when the events broke off before the end. A daemon that shut down in order has sent an error first;
   * otherwise the daemon has vanished: rejects. `session`: the pid of the session, if it is one.
   */
  async cutOff(session?: number): Promise<number> {
    if (this.#error === undefined) throw daemonVanished(session ?? this.#pid, session !== undefined);
    if (this.#console.mode === "json") await this.#console.line(failureJson(this.#error));
    return 1;
  }

  get #verbose(): boolean {
    return this.#console.mode === "verbose";
  }

  get #paint(): Paint {
    return this.#output.isResultAlone ? this.#console.errorPaint : this.#console.paint;
  }

  /** Prints a line that scripts do not receive. */
  async #screen(text: string): Promise<void> {
    if (!this.#console.isScreen) return;
    if (this.#output.isResultAlone) await this.#console.errorLine(text);
    else await this.#console.line(text);
  }

  /** Shown to the user in every mode. */
  async #aside(text: string): Promise<void> {
    if (this.#output.isResultAlone) await this.#console.notice(text);
    else await this.#console.aside(text);
  }

  async #spawn(event: SpawnEvent): Promise<void> {
    if (event.notice !== undefined) {
      this.#hasNotice = true;
      await this.#aside(safeLine(event.notice));
    }
    await this.#screen(spawnLine(event.pid));
    if (this.#verbose) await this.#screen(detailsLine(event));
  }

  async #call(lineOf: (columns: number) => string): Promise<void> {
    if (!this.#console.showsCalls) return;
    const said = this.#reply;
    this.#reply = "";
    await this.#said(said);
    await this.#console.line(lineOf(this.#console.columns));
  }

  /** The text of the model besides its calls. */
  async #said(text: string): Promise<void> {
    const words = text.trimEnd();
    if (words !== "" && this.#console.showsCalls) await this.#console.text(safeLines(words));
  }

  async #result(result: string): Promise<void> {
    if (result === "") return;
    if (!this.#output.isResultAlone) await this.#console.line(resultBox(result, this.#console.columns));
    else await this.#console.raw(result.endsWith("\n") ? result : `${result}\n`);
  }

  /** Refusals and retries are shown without --verbose too, beside the screen; quiet mode omits them. */
  async #log(level: string, line: string): Promise<void> {
    const { mode } = this.#console;
    if (mode === "verbose") await this.#screen(line);
    else if (mode !== "quiet" && level !== "info") await this.#console.errorLine(line);
  }

  async #fail(pid: number, message: string, error: WireError | undefined): Promise<void> {
    this.#error = error;
    this.#saidError = true;
    const { mode, words, errorPaint } = this.#console;
    if (mode === "json") return;
    await this.#console.errorLine(errorPaint.red(runErrorLine(pid, message)));
    if (error?.hint !== undefined) await this.#console.errorLine(hintLine(error.hint, words));
  }

  /** The end of one run of a session; the session stays. */
  async runOver(event: IdleEvent): Promise<void> {
    const { pid, message, error, exit_code, queued } = event;
    if (exit_code !== 0 && error !== undefined) await this.#fail(pid, message ?? error.message, error);
    const over = { ...event, ...(message === undefined ? {} : { exit_reason: message }) };
    await this.#over(over, (paint) => `${idleLine(event, paint)}\n${leftLine(pid, queued > 0)}`);
  }

  async #complete(event: CompleteEvent): Promise<void> {
    await this.#over(event, (paint) => lastLine(event, paint));
    // for the user: the screen itself is fixed
    if (!this.#verbose || !this.#output.isTerminal) return;
    for (const line of [answeredLine(event), costLine(event)])
      if (line !== undefined) await this.#console.errorLine(line);
  }

  async #over(event: RunOver, last: (paint: Paint) => string): Promise<void> {
    const { exit_code: code, exit_reason: reason = "", result } = event;
    if (code !== 0 && !this.#saidError) await this.#fail(event.pid, reason, undefined);
    switch (this.#console.mode) {
      case "json":
        if (code === 0) await this.#console.data(runData(event, this.#output.isVerbose === true));
        else
          await this.#console.line(
            failureJson(
              failureOf(event, this.#error),
              event.denied === undefined ? {} : { denied: event.denied },
            ),
          );
        break;
      case "quiet":
        if (code === 0 || result !== "")
          await this.#console.line(this.#output.isTerminal ? safeLines(result) : result);
        break;
      case "verbose":
      case "default":
        await this.#result(result);
        await this.#screen(last(this.#paint));
    }
    if (this.#console.mode !== "quiet")
      for (const line of deniedLines(event)) await this.#console.errorLine(line);
    if (this.#hasNotice) for (const line of CONFIGURE_LINES) await this.#aside(line);
  }
}
