/** The messages of a print run: the prompt, or the lines of stdin. */
import { linesOf } from "../chat/lines.ts";
import type { Input } from "../host/host.ts";
import { userLine } from "./user-line.ts";

/** What is said of lines that are not messages. */
export interface LineReport {
  bad(line: number, why: string): void;
  /** A request of a client library; the answer goes to stdout. */
  control(id: string, asks: string): void;
}

export async function* onlyMessage(text: string): AsyncGenerator<string> {
  yield text;
}

/** `words`: a message before those of stdin; "": none. */
export async function* stdinMessages(
  words: string,
  stdin: Input,
  report: LineReport,
): AsyncGenerator<string> {
  if (words.trim() !== "") yield words;
  let number = 0;
  for await (const line of linesOf(stdin)) {
    number++;
    const read = userLine(line);
    if (read.kind === "message") yield read.text;
    else if (read.kind === "bad") report.bad(number, read.why);
    else if (read.kind === "control") report.control(read.id, read.asks);
  }
}
