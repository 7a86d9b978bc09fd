/** Opens the interactive terminal for a new session or an existing one. */
import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "../cli/command.ts";
import { settleTrust } from "../cli/dialog/trust-question.ts";
import { leftLine } from "../cli/screen/chat-lines.ts";
import { runtimeDir } from "../lib/paths.ts";
import { App } from "./app.ts";
import { innerCall } from "./inner-call.ts";
import type { Start } from "./link.ts";

/** `text`: said first, in a session that is there. */
export async function openTerminal(
  call: Call,
  cwd: string,
  start: Start & { readonly text?: string },
): Promise<number> {
  const app = new App({
    call,
    cwd,
    runtime: runtimeDir(call.host.env, process.getuid?.() ?? 0),
    nowMono: () => performance.now(),
    wait: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
  });
  let code: number;
  try {
    code = await app.untilOver(async () => {
      if (start.kind === "new" && (await settleTrust(innerCall(app), cwd)) === "interrupted")
        return "interrupted";
      return start;
    });
  } finally {
    app[Symbol.dispose]();
  }
  if (app.pid !== 0 && code === 0) await call.console.line(leftLine(app.pid, app.isRunning));
  return code;
}
