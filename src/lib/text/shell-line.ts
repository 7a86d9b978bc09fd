/**
 * A shell line that the user ran in the terminal of a session, as the model reads it: a message of the user that starts
 * no run. It is read with the next message, or at the next step of the run in progress.
 */
export interface ShellLine {
  readonly command: string;
  /** The exit code, or the name of the signal. */
  readonly exit: string;
  readonly output: string;
}

const FORM = /^<shell_line command="([^"]*)" exit="([^"]*)">\n([\s\S]*)<\/shell_line>\s*$/;
const END = /<(\/shell_line)/g;

export function shellNote({ command, exit, output }: ShellLine): string {
  const named = command.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const text = output.replace(END, "&lt;$1");
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `<shell_line command="${named}" exit="${exit}">\n${whole}</shell_line>`;
}

/** undefined: the message is another one. */
export function findShellNote(text: string): ShellLine | undefined {
  const [, command, exit, output] = FORM.exec(text) ?? [];
  if (command === undefined || exit === undefined || output === undefined) return undefined;
  return { command: command.replaceAll("&quot;", '"').replaceAll("&amp;", "&"), exit, output };
}
