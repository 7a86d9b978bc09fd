/** Where the commands that follow a process show its questions to the user. */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { Call } from "../command.ts";
import { safeLine } from "../screen/text/safe-text.ts";
import type { Phrases } from "../screen/words/en.ts";
import type { Input, Output } from "../terminal/streams.ts";
import { answerParams } from "./answer-params.ts";
import { AskDialog, type EditLine } from "./ask-dialog.ts";
import { argumentsFile, editorOf, editText, mainText, readArguments } from "./ask-editor.ts";

/** A terminal that the user reads and types at, and that no script parses. */
export function questionTerminal({ console, host }: Call): Output | undefined {
  if (host.stdin.isTTY !== true) return undefined;
  if (host.stderr.isTTY === true) return host.stderr;
  return console.isScreen && host.stdout.isTTY === true ? host.stdout : undefined;
}

interface DialogMore {
  readonly input?: Input;
  readonly isNumbered?: boolean;
  readonly onWhole?: () => void;
  readonly onAnswered?: (question: string, answer: string) => void;
  readonly onAgain?: () => void;
  readonly onEscape?: () => void;
  /** Gives the terminal to a program for as long. Absent: it is in the state that programs expect, but for raw mode. */
  readonly lend?: (act: () => void) => Promise<void>;
}

export function openDialog(
  { console, host }: Pick<Call, "console" | "host">,
  terminal: Output,
  {
    input = host.stdin,
    isNumbered = false,
    onWhole,
    onAnswered,
    onAgain,
    onEscape,
    lend = lentBy(host),
  }: DialogMore = {},
): AskDialog {
  return new AskDialog({
    input,
    isNumbered,
    onWhole,
    onAnswered,
    onAgain,
    onEscape,
    // the big terminal breaks lines itself, and anew for each size
    get columns() {
      return isNumbered ? undefined : terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    get words() {
      return console.catalogue.ask;
    },
    onInterrupt: () => {
      // as the terminal echoes it outside raw mode; later output begins on a new line
      terminal.write("^C\n", () => {});
      host.interrupts.raise();
    },
    write: (text) => new Promise((done) => void terminal.write(text, done)),
    answer: async (askId, reply) => {
      const client = await host.daemon.find();
      try {
        const told = await client?.request("ask.answer", answerParams(askId, reply));
        if (told?.note !== undefined) await console.errorLine(`! ${safeLine(told.note)}`);
        return true;
      } catch (error) {
        if (codeOf(error) === "CONFLICT") {
          // no failure for a person: an interrupt has withdrawn it, or somebody else was first
          terminal.write(`${console.catalogue.ask.gone}\n`, () => {});
          return true;
        }
        await console.fail(error);
        // the answer was not accepted, or could not be recorded: the question is still open
        return !isRetried(codeOf(error));
      } finally {
        client?.close();
      }
    },
    edit: (text, line) => editArguments({ console, host, lend }, text, line),
  });
}

function isRetried(code: string): boolean {
  return code === "INVALID" || code === "UNAVAILABLE";
}

type Editing = Pick<Call, "console" | "host"> & Required<Pick<DialogMore, "lend">>;

/** Edits in the user's editor, else the main text argument of the call on one line. */
async function editArguments(
  { console, host, lend }: Editing,
  text: string,
  line: EditLine,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const words = console.catalogue.ask;
  const editor = editorOf(host.env);
  const changed =
    editor === undefined ? await onLine(text, line, words) : await inEditor({ console, lend }, editor, text);
  if (changed === undefined) return undefined;
  const read = readArguments(changed, words);
  if (read.kind === "arguments") return read.input;
  await console.errorLine(`! ${safeLine(read.why)}`);
  return undefined;
}

async function onLine(text: string, line: EditLine, words: Phrases["ask"]): Promise<string | undefined> {
  const main = mainText(text);
  if (main === undefined) return line(`  ${words.arguments}: `, text);
  const value = await line(`  ${main.key}: `, main.value);
  return value === undefined ? undefined : JSON.stringify({ ...JSON.parse(text), [main.key]: value });
}

/** The editor receives the keys until it ends. */
async function inEditor(
  { console, lend }: Omit<Editing, "host">,
  editor: string,
  text: string,
): Promise<string | undefined> {
  try {
    const file = argumentsFile(text);
    let edited: string | undefined;
    await lend(() => {
      edited = file.back(editText(editor, file.text, file.name));
    });
    return edited;
  } catch (error) {
    await console.errorLine(`! ${safeLine(messageOf(error))}`);
    return undefined;
  }
}

function lentBy({ stdin }: Call["host"]): (act: () => void) => Promise<void> {
  return async (act) => {
    stdin.setRawMode?.(false);
    try {
      act();
    } finally {
      stdin.setRawMode?.(true);
    }
  };
}
