/** Commands of the command line: their questions are asked here, and their output goes into the transcript. */
import type { Output } from "../cli/terminal/streams.ts";
import type { App } from "./app.ts";
import { innerHost } from "./inner-call.ts";
import { type Model, withEntries } from "./state/model.ts";

/** The most that a command's output takes in the transcript. */
const MAX_OUTPUT_CHARS = 100_000;

export async function runCommand(app: App, argv: readonly string[], title: string): Promise<void> {
  const parts: string[] = [];
  const stdout: Output = {
    isTTY: true,
    columns: app.size.columns - 1,
    write: (text, done) => {
      parts.push(String(text));
      done();
      return true;
    },
  };
  const stderr: Output = {
    ...app.box.output,
    isTTY: true,
    // what a question writes is the dialog's, everything else is output
    write: (text, done) => (app.box.isOpen ? app.box.output : stdout).write(text, done),
  };
  await app.call.host.command(argv, innerHost(app, stdout, stderr));
  putOutput(app, title, parts.join("").slice(0, MAX_OUTPUT_CHARS));
  if (argv[0] === "config" || argv[0] === "trust") await app.prefer();
}

export function putOutput(app: { model: Model }, title: string, text: string): void {
  const entry = { kind: "output", title, text: text.replace(/\n+$/, "") } as const;
  app.model = withEntries(app.model, [entry]);
}
