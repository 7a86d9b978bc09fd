/** A call whose terminal is the dialog box: what asks the user elsewhere in Crux asks there, and what fails becomes a notice. */

import type { Call } from "../cli/command.ts";
import { Console } from "../cli/console.ts";
import type { AskDialog } from "../cli/dialog/ask-dialog.ts";
import { openDialog } from "../cli/dialog/questions.ts";
import type { Host } from "../cli/host/host.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import type { Output } from "../cli/terminal/streams.ts";
import type { DialogBox } from "./drive/dialog-box.ts";
import type { NoticeLevel } from "./state/model.ts";

/** The terminal in which the calls are made. */
export interface Outer {
  readonly call: Call;
  readonly cwd: string;
  readonly box: DialogBox;
  readonly words: Phrases;
  say(text: string, level: NoticeLevel): void;
}

export function innerCall(app: Outer): Call {
  const { host, args } = app.call;
  const notices: Output = {
    write: (text, done) => {
      const words = String(text).trimEnd();
      if (words !== "") app.say(words.replace(/^! /, ""), "warning");
      done();
      return true;
    },
  };
  const console = new Console({ env: host.env, stdout: notices, stderr: notices }, "default", true);
  console.catalogue = app.words;
  const inner = innerHost(app, app.box.output, app.box.output);
  return { args, console, host: inner };
}

interface Running extends Outer {
  readonly actions: { stopRun(): void };
  yielded(act: () => void): Promise<void>;
}

/** The questions of the session and of what works below it. */
export function innerDialog(app: Running, inner: Call): AskDialog {
  const { asking, output } = app.box;
  const onEscape = (): void => app.actions.stopRun();
  const dialog = openDialog(inner, output, { ...asking, onEscape, lend: (act) => app.yielded(act) });
  app.box.waiting = () => dialog.waiting;
  return dialog;
}

/** `cwd`: of the session. */
export function innerHost(app: Outer, stdout: Output, stderr: Output): Host {
  const { host } = app.call;
  return {
    version: host.version,
    env: host.env,
    cwd: app.cwd,
    stdin: app.box.keys,
    stdout,
    stderr,
    stdinKind: "device",
    stdoutKind: "device",
    interrupts: host.interrupts,
    lifecycle: host.lifecycle,
    daemon: host.daemon,
    catalogue: app.words,
    command: host.command,
  };
}
