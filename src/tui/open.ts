/** Opens the interactive terminal for a new session or an existing one. */
import { setTimeout as pause } from "node:timers/promises";
import type { ChatClient } from "../cli/chat/client.ts";
import type { Call } from "../cli/command.ts";
import { settleTrust } from "../cli/dialog/trust-question.ts";
import { uiAtStart } from "../cli/run/ui-at-start.ts";
import { leftLine } from "../cli/screen/chat-lines.ts";
import { brokenAtBlanks } from "../cli/screen/text/width.ts";
import { catalogueOf } from "../cli/screen/words/catalogue.ts";
import { runtimeDir } from "../lib/paths.ts";
import { keepHeapSmall } from "../lib/v8-flags.ts";
import { App } from "./app.ts";
import { settleModel } from "./first-use.ts";
import { innerCall } from "./inner-call.ts";
import type { Start } from "./link.ts";

/** What is opened. `text`: said first, in a session that is there. "choose": one that the user chooses from a list. */
type Opening =
  | (Start & { readonly text?: string; readonly maxSteps?: number | undefined })
  | { readonly kind: "choose"; settle(place: { pid: number; client: ChatClient }): Promise<unknown> };

/** The time in which a terminal is opened, in ms: it leaves much. */
const LOADED_MS = 5_000;

/** Goes from one session to the next, as the user chooses. */
export async function openTerminal(call: Call, cwd: string, first: Opening): Promise<number> {
  let leaveHeap = (): void => {};
  const loaded = setTimeout(() => {
    leaveHeap = keepHeapSmall();
  }, LOADED_MS).unref();
  try {
    let opening = first;
    for (;;) {
      const { code, next } = await openOne(call, cwd, opening);
      if (next === undefined) return code;
      opening = { kind: "session", pid: next };
    }
  } finally {
    clearTimeout(loaded);
    leaveHeap();
  }
}

async function openOne(call: Call, cwd: string, opening: Opening) {
  const app = new App({
    call,
    cwd,
    words: await catalogueOf(uiAtStart(call.host.env).language),
    runtime: runtimeDir(call.host.env, process.getuid?.() ?? 0),
    nowMono: () => performance.now(),
    wait: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
  });
  let code: number;
  try {
    code = await app.untilOver(() => begin(app, opening));
  } finally {
    app[Symbol.dispose]();
  }
  const { next } = app;
  if (app.pid !== 0 && code === 0 && next === undefined)
    await call.console.line(
      brokenAtBlanks(leftLine(app.pid, app.isRunning, app.words), call.console.columns),
    );
  return { code, next };
}

/** undefined: the user has chosen no session. */
async function begin(app: App, opening: Opening): Promise<Start | "interrupted" | undefined> {
  if (opening.kind === "new") {
    if ((await settleTrust(innerCall(app), app.cwd)) === "interrupted") return "interrupted";
    if ((await settleModel(app, opening.request)) === "interrupted") return "interrupted";
  }
  if (opening.kind === "choose") {
    const pid = await app.actions.views.pickSession();
    if (pid === undefined) return undefined;
    await opening.settle({ pid, client: app.client });
    return { kind: "session", pid };
  }
  app.client.maxSteps = opening.maxSteps;
  if (opening.kind === "session" && opening.text !== undefined && opening.text !== "")
    await app.actions.say(opening.text);
  return opening;
}
