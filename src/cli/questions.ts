/** Where the questions of a process are put to a person, for the commands that follow one. */
import { AskDialog } from "./ask-dialog.ts";
import type { Call } from "./command.ts";
import type { Input, Output } from "./host.ts";

/** A terminal that a person reads and types at, and that no script parses. */
export function questionTerminal({ console, host }: Call): Output | undefined {
  if (host.stdin.isTTY !== true) return undefined;
  if (host.stderr.isTTY === true) return host.stderr;
  return console.isScreen && host.stdout.isTTY === true ? host.stdout : undefined;
}

export function openDialog(
  { console, host }: Pick<Call, "console" | "host">,
  terminal: Output,
  input: Input = host.stdin,
): AskDialog {
  return new AskDialog({
    input,
    onInterrupt: () => {
      // as the terminal itself shows it outside of raw mode, and what comes next begins a line
      terminal.write("^C\n", () => {});
      host.interrupts.raise();
    },
    write: (text) => new Promise((done) => void terminal.write(text, done)),
    answer: async (askId, answer) => {
      try {
        const client = await host.daemon.find();
        await client?.request("ask.answer", { ask_id: askId, answer });
        client?.close();
      } catch (error) {
        await console.fail(error);
      }
    },
  });
}
