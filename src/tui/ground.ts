/** Where the session works, and what confines its commands there. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Result } from "../abi/methods/methods.ts";
import { sandboxOff } from "../abi/sandbox.ts";
import type { ChatClient } from "../cli/chat/client.ts";
import { safeLine } from "../cli/screen/text/safe-text.ts";
import type { Phrases } from "../cli/screen/words/en.ts";

interface Grounded {
  readonly client: ChatClient;
  readonly pid: number;
  /** Of the session: what is typed begins there. */
  readonly cwd: string;
  readonly words: Phrases;
  say(text: string, level?: "error" | "success"): void;
}

/** From its next call on, also while it works; "": only tells where it works. */
export async function addFolder(app: Grounded, typed: string): Promise<void> {
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
export async function tellSandbox(app: Grounded): Promise<void> {
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
