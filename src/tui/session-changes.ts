/** What slash commands change of the session that is open, and of the terminal, which no command of the command line does. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { codeOf } from "../abi/errors.ts";
import { EFFORTS, isEffort } from "../abi/llm.ts";
import type { Result } from "../abi/methods/methods.ts";
import { sandboxOff } from "../abi/sandbox.ts";
import type { ChatClient } from "../cli/chat/client.ts";
import { safeLine } from "../cli/screen/text/safe-text.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
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

interface Grounded extends Changing {
  /** Of the session: what is typed begins there. */
  readonly cwd: string;
}

/** From its next call on, also while it works; "": only tells where it works. */
async function addFolder(app: Grounded, typed: string): Promise<void> {
  const { act } = app.words;
  if (app.pid === 0) return app.say(act.noSession, "error");
  const dir = typed === "" ? undefined : resolve(app.cwd, typed.replace(/^~(?=\/|$)/, homedir()));
  if (dir !== undefined && !isFolder(dir)) return app.say(act.noFolder(safeLine(dir)), "error");
  app.say(await foldersOf(app, dir === undefined ? [] : [dir]), dir === undefined ? undefined : "success");
}

async function foldersOf({ client, pid, words }: Grounded, dirs: readonly string[]): Promise<string> {
  const change = dirs.length === 0 ? {} : { dirs: [...dirs] };
  const ground = await client.request("session.change", { pid, ...change });
  return words.act.folders(ground.dirs.map(safeLine).join(", "));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** What confines its commands, where they write, and what the settings say of that. */
async function tellSandbox(app: Grounded): Promise<void> {
  const { client, cwd, words } = app;
  if (app.pid === 0) return app.say(words.act.noSession, "error");
  const { sandbox } = await client.request("kernel.status", {});
  const off = sandbox === undefined ? undefined : sandboxOff(sandbox);
  const { settings } = await client.request("settings.list", { cwd });
  const lines = [
    off === undefined ? words.act.sandbox(sandbox?.kind ?? "") : words.session.sandboxOff(off),
    await foldersOf(app, []),
    ...settings.filter(({ key, source }) => key.startsWith("sandbox.") && source !== "default").map(setLine),
  ];
  app.say(lines.join("\n"));
}

function setLine({ key, value, source }: Result<"settings.list">["settings"][number]): string {
  return safeLine(`${key} = ${JSON.stringify(value)} (${source})`);
}
