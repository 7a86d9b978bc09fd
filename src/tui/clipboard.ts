/** Into the clipboard of the terminal, by the user's own wish. */
import type { Host } from "../cli/host/host.ts";
import { safeLines } from "../cli/screen/text/safe-text.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import type { Model } from "./state/model.ts";

interface Copying {
  readonly call: { readonly host: Pick<Host, "stdout"> };
  readonly model: Pick<Model, "entries">;
  readonly words: Phrases;
  say(text: string, level: "error" | "success"): void;
}

/** The nth last answer. */
export function copyAnswer(app: Copying, nth: number): void {
  const answers = app.model.entries.flatMap((entry) => (entry.kind === "text" ? [entry.text] : []));
  const text = answers.at(-nth);
  if (text === undefined) app.say(app.words.act.noAnswer, "error");
  else copyText(app, text);
}

/** What would steer a terminal that it is pasted into is escaped. */
export function copyText(app: Copying, text: string): void {
  app.call.host.stdout.write(`\x1b]52;c;${Buffer.from(safeLines(text)).toString("base64")}\x07`, () => {});
  app.say(app.words.act.copied(text.length), "success");
}
