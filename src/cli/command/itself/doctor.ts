/** `crux doctor`: checks what Crux needs, one line each with its remedy. Exit code 1 if a check fails. */
import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { daemonFindings } from "./doctor-daemon.ts";
import { type Finding, localFindings } from "./doctor-local.ts";

export const doctor: Command = { flags: { offline: { type: "boolean" } }, run };

const MARKS = { ok: "✓", warn: "!", fail: "✗" } as const;

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  noWords(args, "crux doctor [--offline]");
  const findings: Finding[] = [];
  const tell = async (finding: Finding): Promise<void> => {
    findings.push(finding);
    if (console.isScreen || (console.mode === "quiet" && finding.state !== "ok"))
      await (console.isScreen ? console.aside(shown(call, finding)) : console.line(shown(call, finding)));
  };
  for (const finding of localFindings(host)) await tell(finding);
  await daemonFindings(call, args.flags.has("offline"), tell);
  const hasFailed = findings.some(({ state }) => state === "fail");
  if (console.mode === "json") await console.data({ ok: !hasFailed, checks: findings });
  return hasFailed ? 1 : 0;
}

function shown({ console }: Call, { state, name, words, remedy }: Finding): string {
  const mark = state === "ok" ? MARKS.ok : state === "warn" ? MARKS.warn : console.paint.red(MARKS.fail);
  const line = `${mark} ${name}: ${safeLine(words)}`;
  return remedy === undefined || state === "ok" ? line : `${line}\n  → ${safeLine(remedy)}`;
}
