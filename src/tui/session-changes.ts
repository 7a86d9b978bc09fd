/** What slash commands change of the session that is open, and of the terminal, which no command of the command line does. */
import { codeOf } from "../abi/errors.ts";
import { EFFORTS, isEffort } from "../abi/llm.ts";
import type { ChatClient } from "../cli/chat/client.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import { addFolder, tellSandbox } from "./ground.ts";
import { type Choosing, chooseLanguage, chooseTheme } from "./preferences.ts";
import { diffLines, WAY_BACK } from "./text/diff.ts";

interface Changing {
  readonly client: ChatClient;
  readonly pid: number;
  readonly words: Phrases;
  say(text: string, level?: "error" | "success"): void;
}

type Change = (app: Changing & Choosing, text: string) => Promise<void>;

/** By the command that changes it. */
export const CHANGES: Readonly<Record<string, Change | undefined>> = {
  "add-dir": addFolder,
  diff: tellDiff,
  effort: changeEffort,
  lang: chooseLanguage,
  rename,
  sandbox: tellSandbox,
  theme: chooseTheme,
};

async function rename(app: Changing, title: string): Promise<void> {
  const { act } = app.words;
  if (title === "") return app.say(act.renameNeeds, "error");
  await app.client.entitle(app.pid, title);
  app.say(act.named(title), "success");
}

async function tellDiff(app: Changing & Choosing): Promise<void> {
  try {
    const back = await app.client.request("process.rewind", { pid: app.pid, ...WAY_BACK });
    app.say(diffLines(back, app.cwd, app.words).join("\n"));
  } catch (error) {
    // nothing was said to it yet
    if (codeOf(error) !== "INVALID") throw error;
    app.say(app.words.diff.none);
  }
}

/** From the next run on; "": only tells the levels. */
async function changeEffort(app: Changing, level: string): Promise<void> {
  const { act } = app.words;
  if (!isEffort(level)) return app.say(act.efforts(EFFORTS.join(", ")), level === "" ? undefined : "error");
  const { effort, model } = await app.client.request("process.model", { pid: app.pid, effort: level });
  if (effort === undefined) return app.say(act.noEffort(model), "error");
  app.say(act.effort(effort), "success");
}
