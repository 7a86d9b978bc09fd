/** The messages of a print run: the prompt, or the lines of stdin. */
import { linesOf } from "../chat/lines.ts";
import type { Input } from "../terminal/streams.ts";
import { type Said, type UserLine, userLine } from "./user-line.ts";

export type ControlRequest = Extract<UserLine, { kind: "control" }>;

/** What is said of lines that are not messages. */
interface LineReport {
  bad(line: number, why: string): void;
  /** A request of a client library; the answer goes to stdout. */
  control(request: ControlRequest): void;
  /** false: it answers nothing that was asked. */
  answer(answer: Extract<UserLine, { kind: "answer" }>): boolean;
  /** There are no more lines. */
  end(): void;
}

export async function* onlyMessage(text: string): AsyncGenerator<Said> {
  yield { text };
}

/** `words`: a message before those of stdin; "": none. */
export async function* stdinMessages(words: string, stdin: Input, report: LineReport): AsyncGenerator<Said> {
  if (words.trim() !== "") yield { text: words };
  let number = 0;
  for await (const line of linesOf(stdin)) {
    number++;
    const read = userLine(line);
    if (read.kind === "message") yield read;
    else if (read.kind === "bad") report.bad(number, read.why);
    else if (read.kind === "control") report.control(read);
    else if (read.kind === "answer" && !report.answer(read))
      report.bad(number, "it answers nothing that was asked");
  }
  report.end();
}

/** Messages that were read and not taken; then stdin waits. */
const MAX_AHEAD = 64;

/** Reads on while nobody takes the next message: answers among the lines must not wait for it. */
export async function* readAhead(lines: AsyncIterable<Said>): AsyncGenerator<Said> {
  const ready: Said[] = [];
  let moved = Promise.withResolvers<void>();
  const move = () => {
    moved.resolve();
    moved = Promise.withResolvers();
  };
  const read = async () => {
    for await (const said of lines) {
      ready.push(said);
      move();
      while (ready.length >= MAX_AHEAD) await moved.promise;
    }
  };
  let over: { readonly error?: unknown } | undefined;
  const ended = (end: { readonly error?: unknown }) => {
    over = end;
    move();
  };
  read().then(
    () => ended({}),
    (error: unknown) => ended({ error }),
  );
  for (;;) {
    const next = ready.shift();
    if (next !== undefined) {
      move();
      yield next;
    } else if (over === undefined) await moved.promise;
    else if ("error" in over) throw over.error;
    else return;
  }
}
