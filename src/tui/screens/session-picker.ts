/** The sessions to resume: those of this folder, by Tab those of every folder. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readNotice } from "../../abi/child.ts";
import type { WireHistoryItem, WireSession } from "../../abi/methods/session.ts";
import type { ChatClient } from "../../cli/chat/client.ts";
import { endedLine } from "../../cli/screen/chat-lines.ts";
import { costCell } from "../../cli/screen/table/process-cells.ts";
import { age, titleCell } from "../../cli/screen/table/session-table.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { cutToWidth, padToWidth } from "../../cli/screen/text/width.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";
import { entriesOf } from "../state/catch-up.ts";
import type { TranscriptEntry } from "../state/model.ts";
import type { Pickable, PickerWish } from "./picker.ts";

interface SessionWish {
  readonly words: Phrases;
  readonly sessions: readonly WireSession[];
  readonly cwd: string;
  readonly now: number;
  readonly client: Pick<ChatClient, "request">;
  chosen(session: WireSession): void;
  changed(): void;
}

const TITLE_COLUMNS = 44;
const MESSAGES = 6;

/** Every folder at once where this one has none. */
export function sessionWish(wish: SessionWish): PickerWish<WireSession> {
  const here = wish.sessions.filter(({ cwd }) => cwd === wish.cwd);
  return here.length === 0 ? everywhere(wish) : inFolder(wish, here);
}

function inFolder(wish: SessionWish, here: readonly WireSession[]): PickerWish<WireSession> {
  return {
    ...shared(wish),
    title: wish.words.view.sessionsOf(safeLine(wish.cwd)),
    hint: wish.words.view.sessionKeys,
    items: here.map((session) => item(session, wish, false)),
    tab: () => everywhere(wish),
  };
}

function everywhere(wish: SessionWish): PickerWish<WireSession> {
  return {
    ...shared(wish),
    title: wish.words.view.allSessions,
    hint: wish.words.view.allSessionKeys,
    items: wish.sessions.map((session) => item(session, wish, true)),
    tab: () => sessionWish(wish),
  };
}

function shared(wish: SessionWish) {
  return {
    emptyText: wish.words.view.noSessionFits,
    preview: (session: WireSession) => preview(session, wish),
    chosen: (session: WireSession) => wish.chosen(session),
    changed: () => wish.changed(),
  };
}

function item(session: WireSession, { now, words }: SessionWish, withFolder: boolean): Pickable<WireSession> {
  const { pid, title, cwd, last_at, state } = session;
  const cells = [
    age(last_at, now).padStart(4),
    padToWidth(cutToWidth(titleCell(session), TITLE_COLUMNS), withFolder ? TITLE_COLUMNS : 0),
    ...(withFolder ? [safeLine(cwd)] : []),
    `pid ${pid}`,
    ...(state === "resting" || state === "waiting" ? [] : [words.session.states[state]]),
  ];
  return { value: session, words: `${pid} ${title} ${cwd}`, text: cells.join("  ") };
}

/** Where it works, what it has cost, and what was said last. */
async function preview({ pid, cwd, turns, tokens_used }: WireSession, { client, words }: SessionWish) {
  const cost = await client.request("cost.get", { by: "pid", pid }).catch(() => undefined);
  const said = await client.request("session.history", { pid, limit: MESSAGES }).catch(() => undefined);
  const usd = (cost?.lines ?? []).reduce((sum, line) => sum + line.usd, 0);
  const branch = branchOf(cwd);
  const facts = [
    safeLine(cwd),
    ...(branch === undefined ? [] : [words.view.branch(safeLine(branch))]),
    words.session.messages(turns),
    words.session.tokens(tokens_used),
    ...(usd > 0 ? [costCell(usd)] : []),
  ];
  return [facts.join(" · "), ...(said?.messages ?? []).flatMap((item) => saidLines(item, words))];
}

const MARKS: Partial<Record<TranscriptEntry["kind"], string>> = {
  user: "›",
  text: "●",
  notice: "!",
  shell: "!",
};

/** Without the calls. */
function saidLines(item: WireHistoryItem, words: Phrases): readonly string[] {
  return entriesOf(item, words).flatMap((entry) => {
    const ended = entry.kind === "user" ? readNotice(entry.text) : undefined;
    if (ended !== undefined) return [safeLine(endedLine(ended, words))];
    const text = entry.kind === "shell" ? entry.command : "text" in entry ? entry.text : "";
    const line = safeLine(text.trim().replace(/\s+/g, " ").slice(0, 400));
    return line === "" ? [] : [`${MARKS[entry.kind] ?? ""} ${line}`];
  });
}

/** The branch that is checked out in a folder now; undefined: none, or no repository. */
export function branchOf(cwd: string): string | undefined {
  for (let at = cwd; ; at = dirname(at)) {
    const head = readOr(join(at, ".git/HEAD")) ?? linkedHead(at);
    if (head !== undefined) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1];
    if (at === dirname(at)) return undefined;
  }
}

/** In a worktree `.git` is a file, which names the folder. */
function linkedHead(at: string): string | undefined {
  const folder = /^gitdir: (.+)$/m.exec(readOr(join(at, ".git")) ?? "")?.[1];
  return folder === undefined ? undefined : readOr(join(resolve(at, folder), "HEAD"));
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
