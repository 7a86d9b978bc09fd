/** What slash commands change of the session that is open, and of the terminal, which no command of the command line does. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { EFFORTS, isEffort } from "../abi/llm.ts";
import type { ChatClient } from "../cli/chat/client.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import { type Choosing, chooseLanguage, chooseTheme } from "./preferences.ts";

interface Changing {
  readonly client: ChatClient;
  readonly pid: number;
  readonly cwd: string;
  readonly words: Phrases;
  say(text: string, level?: "error" | "success"): void;
}

type Change = (app: Changing & Choosing, text: string) => Promise<void>;

/** By the command that changes it. */
export const CHANGES: Readonly<Record<string, Change | undefined>> = {
  "add-dir": addFolder,
  effort: changeEffort,
  lang: chooseLanguage,
  theme: chooseTheme,
};

/** From the next run on; "": only tells the levels. */
async function changeEffort(app: Changing, level: string): Promise<void> {
  const { act } = app.words;
  if (!isEffort(level)) return app.say(act.efforts(EFFORTS.join(", ")), level === "" ? undefined : "error");
  const { effort, model } = await app.client.request("process.model", { pid: app.pid, effort: level });
  if (effort === undefined) return app.say(act.noEffort(model), "error");
  app.say(act.effort(effort), "success");
}

/** One more folder to work in. */
async function addFolder(app: Changing, given: string): Promise<void> {
  const { act } = app.words;
  if (given === "") return app.say(act.folderNeeds, "error");
  const path = resolve(app.cwd, given.replace(/^~(?=\/|$)/, homedir()));
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    return app.say(act.noFolder(path), "error");
  const { dirs } = await app.client.request("session.change", { pid: app.pid, dirs: [path] });
  app.say(act.folders(dirs.join(", ")), "success");
}
