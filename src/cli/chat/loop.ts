/** A conversation at a terminal: the session's output above, the input line below. Leaving never ends the session. */

import { codeOf, messageOf } from "../../abi/errors.ts";
import type { WireHistoryItem } from "../../abi/methods/session.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import { findShellNote, shellNote } from "../../lib/text/shell-line.ts";
import type { Call } from "../command.ts";
import type { AskDialog } from "../dialog/ask-dialog.ts";
import { openDialog, questionTerminal } from "../dialog/questions.ts";
import { workingDirectory } from "../run/run-options.ts";
import { runShellLine } from "../run/shell-line.ts";
import { refuseUnknownSkill } from "../run/slash.ts";
import { historyLines, isNote, leftLine, openedLine, pausedLine, promptOf } from "../screen/chat-lines.ts";
import { changedLine, contextLines } from "../screen/context-lines.ts";
import { chosenWords, nameOf } from "../screen/model-words.ts";
import { sessionTable } from "../screen/table/session-table.ts";
import { safeLine, safeLines } from "../screen/text/safe-text.ts";
import { brokenAtBlanks } from "../screen/text/width.ts";
import type { Output } from "../terminal/streams.ts";
import { askAside } from "./aside.ts";
import type { ChatClient } from "./client.ts";
import { PrintedLines } from "./printed-lines.ts";
import type { ChatStream } from "./stream.ts";
import { ChatTerminal } from "./terminal.ts";
import { ChatView } from "./view.ts";
import { wordOf } from "./words.ts";

/** A second Ctrl-C on an empty line within this time leaves, in ms. */
const TWICE_MS = 2_000;
const SHOWN_MESSAGES = 6;

/** Events that show a run in progress: a session opened in the middle of its run continues with any of them. */
const OF_A_RUN: ReadonlySet<WireEvent["event"]> = new Set(["input", "step", "tool", "call", "reply", "ask"]);

export async function chatAtTerminal(call: Call, stream: ChatStream, client: ChatClient): Promise<number> {
  const said = stream.session === undefined ? [] : await lastSaid(client, stream.pid);
  if (stream.session !== undefined) {
    const { catalogue: words, paint } = call.console;
    await call.console.line(openedLine(stream.session, words));
    if (stream.session.state === "paused")
      await call.console.line(pausedLine({ pid: stream.pid, is_paused: true }, words));
    for (const item of said)
      for (const line of historyLines(item, stream.pid, { paint, words })) await call.console.line(line);
  }
  const isRunning = stream.session?.state === "running" || stream.session?.state === "blocked";
  await using chat = new Chat(call, stream, client, said, isRunning);
  return await chat.untilOver();
}

async function lastSaid(client: ChatClient, pid: number): Promise<readonly WireHistoryItem[]> {
  return (await client.request("session.history", { pid, limit: SHOWN_MESSAGES })).messages;
}

class Chat implements AsyncDisposable {
  readonly #call: Call;
  readonly #stream: ChatStream;
  readonly #client: ChatClient;
  readonly #view: ChatView;
  readonly #terminal: ChatTerminal;
  readonly #dialog: AskDialog | undefined;
  readonly #unlisten: () => void;
  #isRunning: boolean;
  #hasLeft = false;
  #pressedMono = Number.NEGATIVE_INFINITY;
  /** A question beside the conversation. */
  #asking: AbortController | undefined;
  /** Waiting messages of this client, newest last. */
  #waiting: number[] = [];

  constructor(
    call: Call,
    stream: ChatStream,
    client: ChatClient,
    said: readonly WireHistoryItem[],
    isRunning: boolean,
  ) {
    const { console, host } = call;
    this.#call = call;
    this.#stream = stream;
    this.#client = client;
    this.#isRunning = isRunning;
    this.#view = new ChatView(console, {
      isTerminal: true,
      client: client.name,
      isEvents: false,
      isResultAlone: false,
    });
    const mine = said
      .filter(({ role, text }) => role === "user" && !isNote(text) && findShellNote(text) === undefined)
      .map(({ text }) => text);
    this.#terminal = new ChatTerminal(host, mine.toReversed(), {
      onLine: (text) => this.#typed(text),
      onInterrupt: (isEmpty) => this.#interrupted(isEmpty),
      onNextMode: () => this.#do(() => this.#nextMode()),
      onEnd: () => this.#leave(),
    });
    const output = questionTerminal(call);
    this.#dialog =
      output === undefined ? undefined : openDialog(call, output, { input: this.#terminal.keys });
    // Ctrl-C at a question, or from outside
    this.#unlisten = host.interrupts.listen(() => this.#interrupted(true));
    this.#do(() => this.#learnMode());
  }

  /** The exit code of the process, 0 when the user left before its end. Rejects when the stream breaks off. */
  async untilOver(): Promise<number> {
    let code: number | undefined;
    for await (const event of this.#stream.events) {
      this.#follow(event);
      if (event.event === "ask") this.#dialog?.ask(event);
      else if (event.event === "ask_closed") this.#dialog?.close(event);
      else await this.#terminal.above(() => this.#view.show(event));
      if (event.event === "complete") code = event.exit_code ?? 0;
    }
    if (code !== undefined) return code;
    if (!this.#hasLeft) return this.#view.cutOff(this.#stream.pid);
    await this.#close();
    const line = leftLine(this.#stream.pid, this.#isRunning, this.#words);
    const { room = Number.POSITIVE_INFINITY } = this.#call.console;
    await this.#call.console.line(brokenAtBlanks(line, room));
    return 0;
  }

  get #words() {
    return this.#call.console.catalogue;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  async #close(): Promise<void> {
    this.#unlisten();
    this.#stream.close();
    await this.#dialog?.[Symbol.asyncDispose]();
    await this.#terminal[Symbol.asyncDispose]();
  }

  #follow(event: WireEvent): void {
    if (event.event === "mode") this.#showMode(event.mode);
    if (OF_A_RUN.has(event.event)) this.#isRunning = true;
    if (event.event === "idle") this.#isRunning = false;
    this.#terminal.isBusy = this.#isRunning;
    if (event.event === "input" || event.event === "withdrawn")
      this.#waiting = this.#waiting.filter((each) => each !== event.seq);
  }

  #typed(line: string): void {
    const word = wordOf(line, this.#words);
    if (word === undefined) return;
    const { pid } = this.#stream;
    if (word.kind === "exit") this.#leave();
    else if (word.kind === "help") this.#print(this.#words.lines.help.join("\n"));
    else if (word.kind === "unknown") this.#print(word.message);
    else if (word.kind === "say") this.#do(() => this.#say(word.text));
    else if (word.kind === "skill") this.#do(() => this.#useSkill(word.text));
    else if (word.kind === "title") this.#do(() => this.#client.entitle(pid, word.title));
    else if (word.kind === "shell") this.#do(() => this.#shell(word.command));
    else if (word.kind === "run") this.#do(() => this.#run(word.argv, word.ofSession));
    else if (word.kind === "btw") this.#do(() => this.#ask(word.question));
    else if (word.kind === "mode") this.#do(() => this.#mode(word.mode));
    else if (word.kind === "model") this.#do(() => this.#model(word.name));
    else if (word.kind === "stop") this.#do(() => this.#client.interrupt(pid));
    else if (word.kind === "back") this.#do(() => this.#takeBack());
    else if (word.kind === "context") this.#do(() => this.#context());
    else if (word.kind === "compact") this.#do(() => this.#compact(word.text));
    else this.#do(() => this.#list());
  }

  /** What is answered beside the run is ended first. While a run is in progress it is interrupted; at rest, a second press on an empty line leaves. */
  #interrupted(isEmpty: boolean): void {
    if (this.#asking !== undefined) this.#asking.abort();
    else if (this.#isRunning) this.#do(() => this.#client.interrupt(this.#stream.pid));
    else if (isEmpty) this.#pressed(performance.now());
  }

  #pressed(now: number): void {
    const isAgain = now - this.#pressedMono <= TWICE_MS;
    this.#pressedMono = now;
    if (isAgain) this.#leave();
    else this.#print(this.#words.lines.leaving);
  }

  /** Nothing is sent where there is no such skill. */
  async #useSkill(text: string): Promise<void> {
    try {
      await refuseUnknownSkill(this.#call.host.daemon, this.#cwd, text);
    } catch (error) {
      if (codeOf(error) !== "INVALID") throw error;
      this.#print(`${messageOf(error)} ${this.#words.lines.others}`);
      return;
    }
    await this.#say(text);
  }

  get #cwd(): string {
    const { args, host } = this.#call;
    return this.#stream.session?.cwd ?? workingDirectory(args, host);
  }

  /** What it prints is shown as it comes; the model reads it with the next message. */
  async #shell(command: string): Promise<void> {
    if (this.#asking !== undefined) return this.#print(this.#words.act.asideRuns);
    const running = new AbortController();
    this.#asking = running;
    this.#terminal.isBusy = true;
    const { ask, entry } = this.#words;
    const print = (text: string): Promise<void> =>
      this.#terminal.above(() => this.#call.console.line(safeLines(text)));
    const printed = new PrintedLines(print, ask.charactersMore);
    const onOutput = (_soFar: string, text: string): void => printed.add(text);
    try {
      const place = { cwd: this.#cwd, signal: running.signal, onOutput };
      const line = await runShellLine(this.#call.host, command, place);
      await printed.end();
      this.#terminal.isBusy = this.#isRunning;
      if (line.exit !== "0") this.#print(entry.exit(line.exit));
      else void this.#terminal.above(async () => {});
      await this.#client.say(this.#stream.pid, shellNote(line));
    } finally {
      this.#asking = undefined;
    }
  }

  async #run(argv: readonly string[], ofSession: boolean): Promise<void> {
    const { host } = this.#call;
    const parts: string[] = [];
    const sink: Output = {
      isTTY: true,
      columns: host.stdout.columns || 80,
      write: (text, done) => {
        parts.push(String(text));
        done();
        return true;
      },
    };
    const line = ofSession ? [...argv, String(this.#stream.pid)] : argv;
    this.#terminal.isBusy = true;
    const { version, env, stdin, interrupts, lifecycle, daemon, command } = host;
    await command(line, {
      ...{ version, env, stdin, interrupts, lifecycle, daemon, command },
      ...{ cwd: this.#cwd, stdout: sink, stderr: sink, stdinKind: "device", stdoutKind: "device" },
      catalogue: this.#words,
    });
    this.#terminal.isBusy = this.#isRunning;
    this.#print(parts.join("").trimEnd());
  }

  async #ask(question: string): Promise<void> {
    const { act, entry } = this.#words;
    if (this.#asking !== undefined) return this.#print(act.asideRuns);
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const wish = { pid: this.#stream.pid, text: question, signal: asking.signal };
      const { text, problem } = await askAside(this.#call.host, wish);
      const end = asking.signal.aborted ? entry.interrupted : problem;
      this.#print(
        ["", `? ${question}`, safeLines(text), safeLine(end)]
          .filter((line, at) => at === 0 || line !== "")
          .join("\n"),
      );
    } finally {
      this.#asking = undefined;
    }
  }

  async #say(text: string): Promise<void> {
    this.#terminal.isBusy = true;
    const { seq } = await this.#client.say(this.#stream.pid, text);
    this.#waiting.push(seq);
  }

  /** A session that has just ended has no mode to show. */
  async #learnMode(): Promise<void> {
    const now = await this.#client.mode(this.#stream.pid).catch(() => undefined);
    if (now !== undefined) this.#showMode(now.mode);
  }

  #showMode(mode: PermissionMode): void {
    this.#terminal.setPrompt(promptOf(mode, this.#call.console.paint, this.#words));
  }

  async #nextMode(): Promise<void> {
    this.#showMode(await this.#client.nextMode(this.#stream.pid));
  }

  async #mode(wanted: PermissionMode | undefined): Promise<void> {
    const { mode, ceiling } = await this.#client.mode(this.#stream.pid, wanted);
    this.#showMode(mode);
    if (wanted === undefined) this.#print(this.#words.act.mode(mode, ceiling));
  }

  async #model(name: string): Promise<void> {
    const { pid } = this.#stream;
    if (name === "") this.#print(nameOf(await this.#client.request("context.stat", { pid, brief: true })));
    else this.#print(chosenWords(await this.#client.request("process.model", { pid, model: name })));
  }

  async #takeBack(): Promise<void> {
    const seq = this.#waiting.at(-1);
    if (seq === undefined) this.#print(this.#words.act.noneWaits);
    else await this.#client.withdraw(this.#stream.pid, seq);
  }

  async #context(): Promise<void> {
    const { console } = this.#call;
    const found = await this.#client.request("context.stat", { pid: this.#stream.pid });
    this.#print(contextLines(found, console).join("\n"));
  }

  async #compact(text: string): Promise<void> {
    this.#print(this.#words.act.summarising);
    this.#print(changedLine(await this.#client.compact(this.#stream.pid, text)));
  }

  async #list(): Promise<void> {
    const { console, host } = this.#call;
    const { sessions } = await this.#client.request("session.list", { cwd: host.cwd });
    const view = { now: Date.now(), withFolder: false, room: console.room };
    this.#print(sessions.length === 0 ? this.#words.lines.noSessions : sessionTable(sessions, view));
  }

  #leave(): void {
    this.#hasLeft = true;
    this.#stream.close();
  }

  #print(text: string): void {
    void this.#terminal.above(() => this.#call.console.line(text));
  }

  /** A failure is shown, and the conversation continues. */
  #do(act: () => Promise<void>): void {
    void act().catch((error: unknown) => {
      this.#terminal.isBusy = this.#isRunning;
      return this.#terminal.above(() => this.#call.console.fail(error));
    });
  }
}
